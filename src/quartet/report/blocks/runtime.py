"""How long a sentence takes, by its words, and the biLM's time over T-TA's (T-TA paper, Figures 4 to 6)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from quartet.report.cells import Cell, interval
from quartet.report.facts import RunFacts
from quartet.report.numbers import NONE, Number, fixed, general, listing, milliseconds, ratio
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code, grid, paper_table
from quartet.report.spec import sections
from quartet.results import ONE_BY_ONE, system_name

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
#: The two tasks of the paper, and the readings of a model that are timed for each.
TASKS = {task: (task, f"{ONE_BY_ONE}/{task}") for task in ("sts", "rerank")}
#: The task of a reading, and how copies are read in it.
TASK_OF = {reading: task for task, readings in TASKS.items() for reading in readings}
WAY_OF = {
    reading: way
    for readings in TASKS.values()
    for reading, way in zip(readings, ("", ONE_BY_ONE), strict=True)
}
TASK_WORDS = {"sts": "a sentence vector", "rerank": "a sentence score"}
#: Before the LAE system over whose time another's is taken, in the name of the metric.
OVER = "over-"
#: The objectives of models that the facts do not list.
OBJECTIVES = {"tta": "lae", "bilm": "mlm", "unilm": "clm", "hf-bert": "mlm"}
growth = fixed(2)


@dataclass(frozen=True)
class RuntimeColumn:
    """A figure of each system, on one data set."""

    head: str
    number: Number
    dataset: str
    metric: str
    bounds: bool = True


@dataclass(frozen=True)
class TimeRatio:
    """How many times as long as an LAE system a masked one takes.

    Attributes:
        task: a key of `TASKS`.
        masked, lae: the two systems, without the task.
        cell: the ratio of their times.
    """

    task: str
    masked: str
    lae: str
    cell: Cell

    @property
    def text(self) -> str:
        """The ratio with its interval, where it has one."""
        bounds = f" {interval(self.cell.bounds, ratio)}" if self.cell.bounds else ""
        return ratio(self.cell.value) + bounds


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
        parts = []
        for task in TASKS:
            own = [
                f"{code(one.masked)} {one.text} times {code(one.lae)}'s"
                for one in ratios(report, lengths[words], split)
                if one.task == task
            ]
            if own:
                printed = _paper_ratio(task, device)
                paper = (
                    ""
                    if printed == NONE
                    else f" (the paper, at {STANDARD} words on its own machine: {printed})"
                )
                parts.append(f"for {TASK_WORDS[task]} {listing(own)}{paper}")
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


def untasked(report: Report, system: str) -> str:
    """A timed system's name without its task: "bilm-one-by-one" of "bilm-one-by-one/sts"."""
    return system_name(report.model(system), WAY_OF.get(report.reading(system), ""))


def ratios(report: Report, dataset: str, split: str) -> list[TimeRatio]:
    """What was measured of masked systems over LAE systems, for each task."""
    found = []
    for task in TASKS:
        for lae in _bases(report, split):
            for system, cell in report.figures(TABLE, dataset, split, OVER + lae).items():
                if TASK_OF.get(report.reading(system)) == task:
                    found.append(TimeRatio(task, untasked(report, system), lae, cell))
    return found


def _bases(report: Report, split: str) -> list[str]:
    """The systems over whose time others' was taken."""
    metrics = {place.metric for place in report.cells.places(TABLE) if place.split == split}
    return [name for name in report.models(TABLE) if OVER + name in metrics]


def _of_device(report: Report, device: str) -> list[str]:
    split = SPLITS[device]
    lengths = word_counts(report, split)
    systems = report.sorted(
        {system for dataset in lengths.values() for system in report.systems(TABLE, dataset, split, ["ms"])}
    )
    columns = [
        RuntimeColumn(_words(words), milliseconds, dataset, "ms", bounds=False)
        for words, dataset in lengths.items()
    ]
    lines = [*_table(report, split, systems, columns), *_tokens(report, lengths, split)]
    words = standard(lengths)
    spans = [name for name in report.datasets(TABLE) if SPAN.fullmatch(name)]
    lines += [
        f"At {_words(words)}, and how the time grows with the number of tokens (time = a · tokens^b):",
        "",
    ]
    lines += _in_full(report, lengths[words], split, device, spans)
    lines += [
        *report.caption(sections()[TABLE].interval, "repeats (of b: lengths)"),
        "Of a ratio it is a bootstrap interval over the rounds, of b that of the least-squares slope. For the other "
        "lengths the intervals of the times are in the picture, those of the ratios in timings.jsonl.",
        "",
        *_devices(report, split),
    ]
    lines += _ratio_table(report, lengths, split, device)
    for dataset in report.datasets(TABLE):
        match = LIST.fullmatch(dataset)
        if match and report.systems(TABLE, dataset, split, ["ms"]):
            tokens = _omitted_tokens(report, dataset, split)
            lines += [
                f"A list of {match[1]} texts of {match[2]} words ({tokens} tokens), all in one call:",
                "",
            ]
            lines += _in_full(report, dataset, split, device, [])
            lines += report.caption(sections()[TABLE].interval, "repeats")
    return lines


def _in_full(report: Report, dataset: str, split: str, device: str, spans: list[str]) -> list[str]:
    """A row a system: time, spread, ratios, growth, and what the paper has."""
    columns = [
        RuntimeColumn("ms", milliseconds, dataset, "ms"),
        RuntimeColumn("interquartile range", milliseconds, dataset, "ms-iqr"),
        *(RuntimeColumn(f"times {code(lae)}'s", ratio, dataset, OVER + lae) for lae in _bases(report, split)),
        *(RuntimeColumn(f"b, {span.replace('-', ' ')}", growth, span, "exponent") for span in spans),
    ]
    paper = "" if LIST.fullmatch(dataset) else device
    return _table(report, split, report.systems(TABLE, dataset, split, ["ms"]), columns, paper)


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


def _tokens(report: Report, lengths: dict[int, str], split: str) -> list[str]:
    """How many tokens the sentences have."""
    parts = [
        f"{_omitted_tokens(report, dataset, split)} of {_words(words)}" for words, dataset in lengths.items()
    ]
    return [f"Tokens, special ones left out: {listing(parts)}.", ""]


def _omitted_tokens(report: Report, dataset: str, split: str) -> str:
    """The tokens of a data set, of each tokenizer ("26 or 31"), noted as shown."""
    cells = report.figures(TABLE, dataset, split, "tokens").values()
    report.omit(TABLE, dataset, split, ["tokens"])
    return " or ".join(general(value) for value in sorted({cell.value for cell in cells})) or NONE


def _ratio_table(report: Report, lengths: dict[int, str], split: str, device: str) -> list[str]:
    by_length = [{_name(one): one for one in ratios(report, dataset, split)} for dataset in lengths.values()]
    names = list(dict.fromkeys(name for found in by_length for name in found))
    if not names:
        return []
    for dataset in lengths.values():
        report.omit(TABLE, dataset, split, [OVER + lae for lae in _bases(report, split)] + ["ms-iqr"])
    rows = []
    for name in names:
        entries = [found[name].cell.value if name in found else None for found in by_length]
        first = next(found[name] for found in by_length if name in found)
        shown = [NONE if one is None else ratio(one) for one in entries]
        rows.append([name, *shown, _paper_ratio(first.task, device)])
    table, where = paper_table(PAPER[device])
    lines = [
        f"Time of the masked model over T-TA's. In the last column: {where} ({table.title}), which does not "
        "say whether the masked copies were batched.",
        "",
    ]
    heads = ["ratio", *(_words(words) for words in lengths), f"paper, {STANDARD} words"]
    return lines + grid(heads, rows)


def _growth(report: Report, split: str) -> list[str]:
    """How the time of the LAE systems grows."""
    found = []
    for span in report.datasets(TABLE):
        for system, cell in report.figures(TABLE, span, split, "exponent").items():
            if objective(report.model(system), report.facts) == "lae":
                found.append(f"{code(system)} with the power {cell.text(growth)} ({span.replace('-', ' ')})")
    where = "on the GPU " if split == SPLITS["cuda"] else ""
    return [f"Time {where}grows with the number of tokens: {listing(found)}."] if found else []


def _name(found: TimeRatio) -> str:
    return f"{code(found.masked)} / {code(found.lae)}, {found.task}"


def _words(words: int) -> str:
    return f"{words} word{'s' if words > 1 else ''}"


def _paper_ratio(task: str, device: str) -> str:
    value = published_figures().tables[PAPER[device]].get(task, "ratio")
    return NONE if value is None else general(value)


def _paper_time(report: Report, system: str, device: str) -> str:
    """The paper's milliseconds beside a model of its own name; of its biLM they stand beside both readings."""
    table = published_figures().tables[PAPER[device]]
    task, column = TASK_OF.get(report.reading(system), ""), report.model(system)
    value = table.get(task, column) if column in table.columns else None
    return NONE if value is None else milliseconds(value)


def _devices(report: Report, split: str) -> list[str]:
    """What the times were taken on: it is what they depend on most."""
    devices: dict[str, None] = {}
    for place in report.cells.places(TABLE):
        cell = report.cells.find(place)
        if cell and place.split == split:
            devices.update(dict.fromkeys(row.device for row in cell.rows))
    return [f"Taken on: {'; '.join(devices)}.", ""]
