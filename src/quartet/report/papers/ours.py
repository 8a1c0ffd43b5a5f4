"""Our figures beside a column of a paper: what the entries `SeriesSpec` of exhibits.yaml find."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from quartet.report.cells import Cell
from quartet.report.papers.series import FigureLevel, Series, scaled
from quartet.report.published import PublishedTable, published_figures, published_number
from quartet.report.run_report import Report, likes_of_tta
from quartet.report.spec import Entry, fill

#: Differences to it stand in the table of the lists themselves.
FIRST = "first-pass"
#: Where the paper prints no number.
NOTHING = PublishedTable(paper="", place="", title="", unit="", columns=("",), rows={})


@dataclass(frozen=True, kw_only=True)
class SeriesSpec(Entry):
    """Where our figures are, and the published column beside them: a series for each set and split that has some.

    In its texts {dataset}, {split}, {reading}, {m}, {measure} and {column} stand for those of the series, {head} for
    what the paper calls the set, {number} for the number that the split begins with, {title} for the published table's.

    Attributes:
        table: of the results.
        sets: our sets in their order, each with what the paper calls it; none: all but those of `without`.
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
        printed, column: the published table and its column; {"": the column of sets that are not listed}.
        same: the sets are the paper's own, but for those with a dash that `sets` does not list, which are parts; of
            `column` by set, those that are listed are.
        format: as of `Series`.
        pairs: the table of measured differences of two systems.
        compared: the measures on which a verdict is passed; none: all.
        instead: only where the entries before it found nothing.
    """

    table: str
    sets: dict[str, str] = dataclasses.field(default_factory=dict)
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
    column: str | dict[str, str] = ""
    same: bool = False
    format: str = "one"
    pairs: str = ""
    compared: tuple[str, ...] = ()
    instead: bool = False


def find(report: Report, specs: tuple[SeriesSpec, ...]) -> list[Series]:
    """What the entries find, in their order."""
    found: list[Series] = []
    for spec in specs:
        if not (spec.instead and found):
            series = (_series(report, spec, *place) for place in _places(report, spec))
            found += [
                one for one in series if one.ours and (spec.printed or one.ours.keys() >= set(spec.rows))
            ]
    return found


def _places(report: Report, spec: SeriesSpec) -> Iterator[tuple[str, str, str, str]]:
    """Yield the set, split, reading and measure of each series."""
    table = spec.table
    for dataset in spec.sets or [one for one in report.datasets(table) if one not in spec.without]:
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


def _series(report: Report, spec: SeriesSpec, dataset: str, split: str, reading: str, measure: str) -> Series:
    values = {
        **{"dataset": dataset, "split": split, "m": measure, "measure": spec.measures[measure]},
        **{
            "reading": reading.replace("-", " "),
            "number": _number(split),
            "head": spec.sets.get(dataset, ""),
        },
    }
    columns = spec.column if isinstance(spec.column, dict) else {"": spec.column}
    values["column"] = fill(columns.get(dataset, columns[""]), values)
    printed = fill(spec.printed, values)
    table = published_figures().tables[printed] if printed else NOTHING
    values["title"] = table.title
    cells: dict[str, Cell] = {}
    for metric in spec.metric:
        cells = report.figures(spec.table, dataset, split, fill(metric, values)) | cells
    rows = list(
        _rows(report, spec, report.sorted(cells), (dataset, reading, printed, values["column"]), table)
    )

    def paired(first: str, second: str) -> FigureLevel | None:
        difference = fill(f"{spec.metric[0]}-difference", values)
        if second == FIRST:
            cell = report.find(spec.table, dataset, split, first, difference)
            return scaled(cell, 1) if cell else None
        found = report.between(spec.pairs, dataset, split, first, second, difference)
        return scaled(*found) if found else None

    return Series(
        ours_on=fill(spec.on, values),
        printed_on=fill(spec.printed_on, values),
        ours={row: cells[system] for row, system, _ in rows if system},
        printed={row: value for row, _, value in rows if value is not None},
        format=spec.format,
        same=dataset in columns
        if isinstance(spec.column, dict)
        else spec.same and (dataset in spec.sets or "-" not in dataset),
        paired=paired,
        compared=not spec.compared or measure in spec.compared,
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
