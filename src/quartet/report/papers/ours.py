"""Our figures beside a column of a paper: what the entries `SeriesSpec` of exhibits.yaml find."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quartet.nbest.metrics import METRICS
from quartet.report import loss
from quartet.report.cells import Cell
from quartet.report.papers.series import KINDS, Change, Series, change_of
from quartet.report.published import PublishedTable, published_figures, published_number
from quartet.report.run_report import Report, likes_of_tta
from quartet.report.spec import Entry, fill

#: Where the paper prints no number.
NOTHING = PublishedTable(paper="", place="", title="", unit="", columns=("",), rows={})
#: How a set that is a part of another one is called.
PART = "-part"


@dataclass(frozen=True, kw_only=True)
class SeriesSpec(Entry):
    """Where our figures are, and the published column beside them: a series for each set and split that has some.

    In its texts {dataset}, {split}, {reading}, {m}, {measure} and {column} stand for those of the series, {number} for
    the number that the split begins with, {title} for the published table's.

    Attributes:
        table: of the results.
        sets: the paper's sets by our names, each with its published column ("": the paper prints a picture). A set
            `NAME-part` is a part of the set NAME. Only these have a verdict.
        others: whether other sets are shown too, as such; the published column beside them is that of the first.
        without: sets that are not shown.
        splits: in their order; none: all, by the numbers that they begin with.
        measures: the values of {m}, a series for each, with their names.
        metric: of the figures; of several the first that a system has.
        reading: of the systems; "each": a series for each but those of `without_readings`.
        rows: our models with the published rows beside them, a model that is named for the set without that; none: all
            models of the run. Where the paper prints no number, all must be there.
            "published": the systems with the names of published rows.
            "readings": those that have a published number by their reading.
        likes: among the published, T-TAs that came trained stand beside the paper's T-TA.
        given, missing: a metric that the set must have, or must not have.
        on, printed_on: how a row names our set and the paper's.
        printed: the published table.
        same: a whole set of `sets` is judged as in the paper, so that a difference of levels means something.
        format: as of `Series`.
        compared: the measures on which a verdict is passed; none: all.
    """

    table: str
    sets: dict[str, str] = dataclasses.field(default_factory=dict)
    others: bool = True
    without: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    measures: dict[str, str] = dataclasses.field(default_factory=lambda: {"": ""})
    metric: tuple[str, ...] = ("{m}",)
    reading: str = ""
    without_readings: tuple[str, ...] = ()
    rows: dict[str, str] | Literal["published", "readings"]
    likes: bool = False
    given: str = ""
    missing: str = ""
    on: str
    printed_on: str = ""
    printed: str = ""
    same: bool = False
    format: str = "one"
    compared: tuple[str, ...] = ()

    def named(self, dataset: str) -> bool:
        """Whether a set is one of the paper's, or a part of one."""
        return dataset.removesuffix(PART) in self.sets

    def column(self, dataset: str) -> str:
        """The published column beside a set."""
        return self.sets.get(dataset.removesuffix(PART), next(iter(self.sets.values()), ""))


def find(report: Report, specs: tuple[SeriesSpec, ...]) -> list[Series]:
    """What the entries find, in their order, the paper's sets first."""
    found = [_series(report, spec, *place) for spec in specs for place in _places(report, spec)]
    return sorted((series for series in found if series), key=lambda series: not series.named)


def paired(
    report: Report, table: str, dataset: str, split: str, metric: str, systems: Mapping[str, str]
) -> Callable[[str, str], Change | None]:
    """Looks up the kept change of two rows, of perplexities from the difference of the losses.

    Args:
        metric: of the difference, "wer-difference".
        systems: by row.
    """

    def look(first: str, second: str) -> Change | None:
        ours, theirs = systems.get(first, ""), systems.get(second, "")
        found = report.difference(table, dataset, split, ours, theirs, metric)
        if found is None:
            return None
        cell, sign = found
        unit = loss.as_percent if metric == loss.DIFFERENCE else float
        return change_of(cell, lambda value: unit(sign * value))

    return look


def at_unigram(report: Report, systems: Mapping[str, str]) -> frozenset[str]:
    """The rows whose model is not shown to be below the unigram of its own tokens."""
    return frozenset(row for row, system in systems.items() if loss.at_unigram(report, report.model(system)))


def better(metric: str) -> int:
    """The sign of a change for the better."""
    if metric in METRICS:
        return METRICS[metric].better
    return -1 if metric.startswith(("loss", "ppl", "pppl", "ms")) else 1


def _places(report: Report, spec: SeriesSpec) -> Iterator[tuple[str, str, str, str]]:
    """Yield the set, split, reading and measure of each series."""
    table = spec.table
    datasets = report.datasets(table)
    order = [name for name in spec.sets if name in datasets]
    order += [name for name in datasets if name not in order and (spec.others or spec.named(name))]
    for dataset in order:
        if dataset in spec.without:
            continue
        splits = [split for one, split in report.groups(table) if one == dataset]
        for split in spec.splits or sorted(splits, key=lambda split: int(_number(split) or 0)):
            given, missing = (
                report.systems(table, dataset, split, [one]) for one in (spec.given, spec.missing)
            )
            if missing or (spec.given and not given):
                continue
            readings = {spec.reading}
            if spec.reading == "each":
                readings = set(map(report.reading, report.systems(table, dataset, split, spec.measures)))
            for reading in sorted(
                readings.difference(spec.without_readings), key=lambda one: (len(one), one)
            ):
                yield from ((dataset, split, reading, measure) for measure in spec.measures)


def _number(split: str) -> str:
    """25 of "25-tokens"; empty where a split begins with no number."""
    number = split.partition("-")[0]
    return number if number.isdigit() else ""


def _series(
    report: Report, spec: SeriesSpec, dataset: str, split: str, reading: str, measure: str
) -> Series | None:
    """One series; None where we have no figure of it."""
    values = {
        **{"dataset": dataset, "split": split, "m": measure, "measure": spec.measures[measure]},
        **{"reading": reading.replace("-", " "), "number": _number(split)},
    }
    values["column"] = fill(spec.column(dataset), values)
    printed = fill(spec.printed, values)
    table = published_figures().tables[printed] if printed else NOTHING
    values["title"] = table.title
    cells: dict[str, Cell] = {}
    for metric in spec.metric:
        cells = report.figures(spec.table, dataset, split, fill(metric, values)) | cells
    rows = list(
        _rows(report, spec, report.sorted(cells), (dataset, reading, printed, values["column"]), table)
    )
    systems = {row: system for row, system, _ in rows if system}
    if not systems or not (spec.printed or systems.keys() >= set(spec.rows)):
        return None
    metric = fill(spec.metric[0], values)
    kept = loss.DIFFERENCE if spec.format in KINDS else f"{metric}-difference"
    named = spec.named(dataset)
    return Series(
        ours_on=fill(spec.on, values),
        printed_on=("" if named else "another set: ") + fill(spec.printed_on, values),
        ours={row: cells[system] for row, system in systems.items()},
        printed={row: value for row, _, value in rows if value is not None},
        format=spec.format,
        named=named,
        same=spec.same and dataset in spec.sets,
        paired=paired(report, spec.table, dataset, split, kept, systems),
        compared=not spec.compared or measure in spec.compared,
        at_unigram=at_unigram(report, systems),
        models=tuple(map(report.model, systems.values())),
        better=better(metric),
    )


def _rows(
    report: Report,
    spec: SeriesSpec,
    systems: Sequence[str],
    place: tuple[str, str, str, str],
    table: PublishedTable,
) -> Iterator[tuple[str, str, float | None]]:
    """Yield what the paper's tables would call a system, the system ("": there is none), and the published number.

    Args:
        place: the set, the reading, the name of the published table and its column.
        table: of that name.
    """
    dataset, reading, printed, column = place
    likes = likes_of_tta(report) if spec.likes else []
    if spec.rows == "published":
        named = {"ngram" if system in report.facts.ngrams else system: system for system in systems}
        for row in (*table.rows, *likes):
            yield row, named.get(row, ""), table.get("tta" if row in likes else row, column)
    elif spec.rows == "readings":
        for system in systems:
            model = "tta" if report.model(system) in likes else report.model(system)
            value = published_number(printed, column, model, report.reading(system))
            if value is not None:
                yield system, system, value
    else:
        ours = spec.rows or {one.name.removesuffix(f"-{dataset}"): "" for one in report.facts.models}
        for system in systems:
            row = report.model(system).removesuffix(f"-{dataset}")
            if row in ours and report.reading(system) == reading:
                yield row, system, table.get(ours[row], column)
