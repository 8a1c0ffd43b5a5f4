"""How long a sentence takes, by its words, and the biLM's time over T-TA's (T-TA paper, Figures 4 to 6)."""

from __future__ import annotations

import re
from typing import NamedTuple

from quartet.report.cells import Cell
from quartet.report.facts import RunFacts
from quartet.report.numbers import NONE, Number, fixed, general, listing, milliseconds, ratio
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code, grid, paper_table
from quartet.report.spec import sections
from quartet.results import system_name

TABLE = "runtime"
#: The sentence length that the paper compares at.
STANDARD = 20
WORDS = re.compile(r"(\d+)-words?")
#: Data sets of other names: how time grows over several lengths, and lists of texts.
SPAN = re.compile(r"(\d+)-to-(\d+)-words")
LIST = re.compile(r"(\d+)-best-of-(\d+)-words")
#: The split of the rows that each kind of device took, and the paper's numbers for it.
SPLITS = {"cpu": "test", "cuda": "test-cuda"}
PAPER = {"cpu": "tta-runtime-cpu", "cuda": "tta-runtime-gpu"}
DEVICE_TITLES = {"cpu": "On the processor", "cuda": "On the GPU"}
#: What a model makes in the paper's two tasks. The reading of a timed system is its task, after the way in which copies
#: are read where they are not one batch: "sts", "one-by-one/sts".
TASKS = {"sts": "a sentence vector", "rerank": "a sentence score"}
#: Before the LAE system over whose time another's is taken, in the name of the metric.
OVER = "over-"
#: The objectives of models that the facts do not list.
OBJECTIVES = {"tta": "lae", "bilm": "mlm", "unilm": "clm", "hf-bert": "mlm"}


class RuntimeColumn(NamedTuple):
    """A figure of each system, on one data set."""

    head: str
    number: Number
    dataset: str
    metric: str
    bounds: bool = True


class TimeRatio(NamedTuple):
    """How many times as long as an LAE system a masked one takes in a task; the systems are named without it."""

    task: str
    masked: str
    lae: str
    cell: Cell


def block(report: Report) -> list[str]:
    """For each device milliseconds by words, the standard length with all that is known of it, ratios, and lists."""
    lines: list[str] = []
    devices = [device for device, split in SPLITS.items() if word_counts(report, split)]
    for device in devices:
        if devices[1:]:
            lines += [f"### {DEVICE_TITLES[device]}", ""]
        lines += _of_device(report, device)
    return lines


def findings(report: Report) -> list[str]:
    """The ratios at the paper's length, or at the nearest that was measured, and how the LAE systems' time grows."""
    found = []
    for device, split in SPLITS.items():
        lengths = word_counts(report, split)
        if not lengths:
            continue
        words = standard(lengths)
        by_task: dict[str, list[str]] = {}
        for one in ratios(report, lengths[words], split):
            said = f"{code(one.masked)} {one.cell.text(ratio)} times {code(one.lae)}'s"
            by_task.setdefault(one.task, []).append(said)
        parts = []
        for task, own in by_task.items():
            printed = _paper_ratio(task, device)
            paper = f" (the paper, at {STANDARD} words on its own machine: {printed})"
            parts.append(f"for {TASKS[task]} {listing(own)}" + (paper if printed != NONE else ""))
        if parts:
            where = " on the GPU" if device == "cuda" else ""
            found.append(f"Time at {words} words{where}: {'; '.join(parts)}.")
        found += _growth(report, split)
    return found


def word_counts(report: Report, split: str | None = None) -> dict[int, str]:
    """The sentence lengths that were timed, ascending, each with its dataset's name; split None: on any device."""
    found = {}
    for dataset in report.datasets(TABLE):
        match = WORDS.fullmatch(dataset)
        if match and report.systems(TABLE, dataset, split, ["ms"]):
            found[int(match[1])] = dataset
    return dict(sorted(found.items()))


def standard(lengths: dict[int, str]) -> int:
    """The timed length that is nearest to the paper's 20 words."""
    return min(lengths, key=lambda words: (abs(words - STANDARD), words))


def objective(name: str, facts: RunFacts) -> str:
    """What a timed model was trained with: clm, mlm or lae; empty where that is not known."""
    model = facts.model(name)
    return model.objective if model else OBJECTIVES.get(name, "")


def task_of(report: Report, system: str) -> str:
    """The task of a timed system."""
    return report.reading(system).rpartition("/")[2]


def untasked(report: Report, system: str) -> str:
    """A timed system's name without its task: "bilm-one-by-one" of "bilm-one-by-one/sts"."""
    return system_name(report.model(system), report.reading(system).rpartition("/")[0])


def ratios(report: Report, dataset: str, split: str) -> list[TimeRatio]:
    """What was measured of masked systems over LAE systems, for each task."""
    return [
        TimeRatio(task, untasked(report, system), lae, cell)
        for task in TASKS
        for lae in _bases(report, split)
        for system, cell in report.figures(TABLE, dataset, split, OVER + lae).items()
        if task_of(report, system) == task
    ]


def _bases(report: Report, split: str) -> list[str]:
    """The systems over whose time others' was taken."""
    metrics = {place.metric for place in report.cells.places(TABLE) if place.split == split}
    return [name for name in report.models(TABLE) if OVER + name in metrics]


def _of_device(report: Report, device: str) -> list[str]:
    split = SPLITS[device]
    lengths = word_counts(report, split)
    systems = {one for dataset in lengths.values() for one in report.systems(TABLE, dataset, split, ["ms"])}
    columns = [
        RuntimeColumn(_words(words), milliseconds, dataset, "ms", bounds=False)
        for words, dataset in lengths.items()
    ]
    tokens = [
        f"{_omitted_tokens(report, dataset, split)} of {_words(words)}" for words, dataset in lengths.items()
    ]
    words = standard(lengths)
    devices = {
        row.device: None
        for place in report.cells.places(TABLE)
        if place.split == split and (cell := report.cells.find(place))
        for row in cell.rows
    }
    lines = [
        *_table(report, split, report.sorted(systems), columns),
        *(f"Tokens, special ones left out: {listing(tokens)}.", ""),
        *(f"At {_words(words)}, and how the time grows with the number of tokens (time = a · tokens^b):", ""),
        *_in_full(report, lengths[words], split, device),
        *report.caption(sections()[TABLE].interval, "repeats (of b: lengths)"),
        "Of a ratio it is a bootstrap interval over the rounds, of b that of the least-squares slope. For the other "
        "lengths the intervals of the times are in the picture, those of the ratios in timings.jsonl.",
        "",
        *(f"Taken on: {'; '.join(devices)}.", ""),
        *_ratio_table(report, lengths, split, device),
    ]
    for dataset in report.datasets(TABLE):
        match = LIST.fullmatch(dataset)
        if match and report.systems(TABLE, dataset, split, ["ms"]):
            tokens_of_list = _omitted_tokens(report, dataset, split)
            lines += [
                f"A list of {match[1]} texts of {match[2]} words ({tokens_of_list} tokens), all in one call:",
                "",
            ]
            lines += _in_full(report, dataset, split)
            lines += report.caption(sections()[TABLE].interval, "repeats")
    return lines


def _in_full(report: Report, dataset: str, split: str, device: str = "") -> list[str]:
    """A row a system: time, spread, ratios, and of sentences on a device the growth and what the paper has."""
    spans = [name for name in report.datasets(TABLE) if device and SPAN.fullmatch(name)]
    columns = [
        RuntimeColumn("ms", milliseconds, dataset, "ms"),
        RuntimeColumn("interquartile range", milliseconds, dataset, "ms-iqr"),
        *(RuntimeColumn(f"times {code(lae)}'s", ratio, dataset, OVER + lae) for lae in _bases(report, split)),
        *(RuntimeColumn(f"b, {span.replace('-', ' ')}", fixed(2), span, "exponent") for span in spans),
    ]
    return _table(report, split, report.systems(TABLE, dataset, split, ["ms"]), columns, device)


def _table(
    report: Report, split: str, systems: list[str], columns: list[RuntimeColumn], paper: str = ""
) -> list[str]:
    """A row a system; with the paper's times on a device where one is named."""
    rows = [
        [
            report.label(system),
            *(
                report.text(one.number, TABLE, one.dataset, split, system, one.metric, bounds=one.bounds)
                for one in columns
            ),
            _paper_time(report, system, paper) if paper else NONE,
        ]
        for system in systems
    ]
    return grid(["system", *(one.head for one in columns), f"paper: ms, {STANDARD} words"], rows)


def _omitted_tokens(report: Report, dataset: str, split: str) -> str:
    """The tokens of a data set, of each tokenizer ("26 or 31"), noted as shown."""
    cells = report.figures(TABLE, dataset, split, "tokens").values()
    report.omit(TABLE, dataset, split, ["tokens"])
    return " or ".join(general(value) for value in sorted({cell.value for cell in cells})) or NONE


def _ratio_table(report: Report, lengths: dict[int, str], split: str, device: str) -> list[str]:
    """A row two systems and a task, a column a length."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for dataset in lengths.values():
        for one in ratios(report, dataset, split):
            rows.setdefault(one[:3], {})[dataset] = ratio(one.cell.value)
    if not rows:
        return []
    for dataset in lengths.values():
        report.omit(TABLE, dataset, split, [OVER + lae for lae in _bases(report, split)] + ["ms-iqr"])
    table, where = paper_table(PAPER[device])
    heads = ["ratio", *map(_words, lengths), f"paper, {STANDARD} words"]
    body = [
        [
            f"{code(masked)} / {code(lae)}, {task}",
            *(texts.get(dataset, NONE) for dataset in lengths.values()),
            _paper_ratio(task, device),
        ]
        for (task, masked, lae), texts in rows.items()
    ]
    return [
        f"Time of the masked model over T-TA's. In the last column: {where} ({table.title}), which does not "
        "say whether the masked copies were batched.",
        "",
        *grid(heads, body),
    ]


def _growth(report: Report, split: str) -> list[str]:
    """How the time of the LAE systems grows."""
    found = []
    for span in report.datasets(TABLE):
        for system, cell in report.figures(TABLE, span, split, "exponent").items():
            if objective(report.model(system), report.facts) == "lae":
                found.append(
                    f"{code(system)} with the power {cell.text(fixed(2))} ({span.replace('-', ' ')})"
                )
    where = "on the GPU " if split == SPLITS["cuda"] else ""
    return [f"Time {where}grows with the number of tokens: {listing(found)}."] if found else []


def _words(words: int) -> str:
    return f"{words} word{'s' if words > 1 else ''}"


def _paper_ratio(task: str, device: str) -> str:
    value = published_figures().tables[PAPER[device]].get(task, "ratio")
    return NONE if value is None else general(value)


def _paper_time(report: Report, system: str, device: str) -> str:
    """The paper's milliseconds beside a model of its own name; of its biLM they stand beside both readings."""
    table = published_figures().tables[PAPER[device]]
    model = report.model(system)
    value = table.get(task_of(report, system), model) if model in table.columns else None
    return NONE if value is None else milliseconds(value)
