"""How long a sentence takes, by its words, and the biLM's time over T-TA's (T-TA paper, Figures 4 to 6)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from quartet.report.cells import Cell
from quartet.report.facts import Facts
from quartet.report.numbers import NONE, general, listing, milliseconds
from quartet.report.order import model_of
from quartet.report.page import Report, code, grid, paper_table
from quartet.report.published import published

TABLE = "runtime"
#: The sentence length that the paper compares at.
STANDARD = 20
WORDS = re.compile(r"(\d+)-words?")
#: The two tasks of the paper, and the words for them in a system's name ("tta/sts").
TASKS = {"sts": ("sts", "embed-context", "embed", "context"), "rerank": ("rerank", "score", "")}
TASK_WORDS = {"sts": "a sentence vector", "rerank": "a sentence score"}
ONE_BY_ONE = "-one-by-one"
#: The objectives of models that the facts do not list.
OBJECTIVES = {"tta": "lae", "bilm": "mlm"}


@dataclass(frozen=True)
class Ratio:
    """How many times as long as an LAE model a masked one takes.

    Attributes:
        task: a key of `TASKS`.
        masked, lae: the two systems, without the task.
        value: the ratio of their times.
        bounds: from the far ends of the two intervals, so wider than an interval of the ratio.
    """

    task: str
    masked: str
    lae: str
    value: float
    bounds: tuple[float, float] | None

    @property
    def text(self) -> str:
        """The ratio, with its bounds where both times have an interval."""
        bounds = f" [{_times(self.bounds[0])}, {_times(self.bounds[1])}]" if self.bounds else ""
        return _times(self.value) + bounds


def body(report: Report) -> list[str]:
    """Milliseconds by words, then the ratios beside the paper's."""
    lines = [
        "Milliseconds a sentence, the median of the repeats, one sentence at a time. The masked copies of "
        "it that a masked language model needs are one batch, whose last layer and output are computed at the "
        f"hidden token alone; `{ONE_BY_ONE}` runs them one after the other, each to its end at every token. "
        "`sts` makes a sentence vector, `rerank` a sentence score, as in the paper.",
        "",
    ]
    lengths = word_counts(report)
    if lengths:
        systems = report.sorted(
            {
                system
                for dataset in lengths.values()
                for system in report.systems(TABLE, dataset, None, ["ms"])
            }
        )
        columns = [
            report.measured(
                f"{words} word{'s' if words > 1 else ''}", milliseconds, TABLE, dataset, None, "ms"
            )
            for words, dataset in lengths.items()
        ]
        lines += report.table(systems, columns) + report.caption(TABLE, "repeats") + _devices(report)
        lines += _ratio_table(report, lengths)
    return lines + report.figure(TABLE, "Milliseconds a sentence against its words")


def findings(report: Report) -> list[str]:
    """The ratios at the paper's length, or at the nearest that was measured."""
    lengths = word_counts(report)
    if not lengths:
        return []
    words = standard(lengths)
    found = ratios(report, lengths[words])
    parts = []
    for task in TASKS:
        own = [f"{code(one.masked)} {one.text} times {code(one.lae)}'s" for one in found if one.task == task]
        if own:
            paper = f"(the paper, at {STANDARD} words on its CPU: {_paper_ratio(task)})"
            parts.append(f"for {TASK_WORDS[task]} {listing(own)} {paper}")
    return [f"Time at {words} words: {'; '.join(parts)}."] if parts else []


def word_counts(report: Report) -> dict[int, str]:
    """The sentence lengths that were timed, ascending, each with its dataset's name."""
    found = {}
    for dataset in report.datasets(TABLE):
        match = WORDS.fullmatch(dataset)
        if match and report.systems(TABLE, dataset, None, ["ms"]):
            found[int(match[1])] = dataset
    return dict(sorted(found.items()))


def standard(lengths: dict[int, str]) -> int:
    """The timed length that is nearest to the paper's 20 words."""
    return min(lengths, key=lambda words: (abs(words - STANDARD), words))


def ratios(report: Report, dataset: str) -> list[Ratio]:
    """Each masked model over each LAE model that reads the same input, for each task."""
    found = []
    for task in TASKS:
        times = _of_task(report, dataset, task)
        for lae, ours in times.items():
            for masked, theirs in times.items():
                kinds = _objective(lae, report.facts), _objective(masked, report.facts)
                if kinds != ("lae", "mlm") or _reads(lae, report.facts) != _reads(masked, report.facts):
                    continue
                bounds = None
                if ours.bounds and theirs.bounds and ours.bounds[0] > 0:
                    bounds = theirs.bounds[0] / ours.bounds[1], theirs.bounds[1] / ours.bounds[0]
                found.append(Ratio(task, masked, lae, theirs.value / ours.value, bounds))
    return found


def _of_task(report: Report, dataset: str, task: str) -> dict[str, Cell]:
    times: dict[str, Cell] = {}
    for system, cell in report.figures(TABLE, dataset, None, "ms").items():
        name, _, reading = system.partition("/")
        if reading in TASKS[task]:
            times.setdefault(name, cell)
    return times


def _objective(name: str, facts: Facts) -> str:
    model = facts.model(model_of(name, facts))
    return model.objective if model else OBJECTIVES.get(model_of(name, facts), "")


def _reads(name: str, facts: Facts) -> str:
    model = facts.model(model_of(name, facts))
    return model.reads if model else "sentences"


def _ratio_table(report: Report, lengths: dict[int, str]) -> list[str]:
    heads = [f"{words} word{'s' if words > 1 else ''}" for words in lengths]
    by_length = [{_name(ratio): ratio for ratio in ratios(report, dataset)} for dataset in lengths.values()]
    names = list(dict.fromkeys(name for found in by_length for name in found))
    if not names:
        return []
    rows = []
    for name in names:
        entries = [found[name].value if name in found else None for found in by_length]
        first = next(found[name] for found in by_length if name in found)
        rows.append(
            [name, *(NONE if one is None else _times(one) for one in entries), _paper_ratio(first.task)]
        )
    table, where = paper_table("tta-runtime-cpu")
    lines = [
        f"Time of the masked model over T-TA's. In the last column: {where} ({table.title}), which does not "
        "say whether the masked copies were batched.",
        "",
    ]
    return lines + grid(["ratio", *heads, f"paper, {STANDARD} words"], rows)


def _name(ratio: Ratio) -> str:
    return f"{code(ratio.masked)} / {code(ratio.lae)}, {ratio.task}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}"


def _paper_ratio(task: str) -> str:
    value = published().tables["tta-runtime-cpu"].get(task, "ratio")
    return NONE if value is None else general(value)


def _devices(report: Report) -> list[str]:
    """What the times were taken on: it is what they depend on most."""
    devices: dict[str, None] = {}
    for place in report.cells.places(TABLE):
        cell = report.cells.find(place)
        devices.update(dict.fromkeys(row.device for row in cell.rows) if cell else {})
    return [f"Taken on: {'; '.join(devices)}.", ""] if devices else []
