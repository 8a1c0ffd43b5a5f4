"""One renderer of all tables of the sections: it knows no task by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quartet.report import computed_cells
from quartet.report.blocks import paper_tables
from quartet.report.blocks.parts import by_parts
from quartet.report.numbers import FORMATS, NONE
from quartet.report.run_report import Report, grid
from quartet.report.spec import (
    AverageSpec,
    BlockSpec,
    ColumnSpec,
    PartsSpec,
    SectionSpec,
    TableSpec,
    fill,
)

Group = tuple[str, str]


@dataclass(frozen=True)
class TableColumn:
    """A column with what its texts stand for."""

    spec: ColumnSpec
    values: dict[str, str]


def section_body(report: Report, name: str, section: SectionSpec) -> list[str]:
    """The tables and blocks of a section as lines of Markdown; none where it was not run.

    Args:
        name: the table of the results.
    """
    lines: list[str] = []
    for part in section.body:
        if isinstance(part, BlockSpec):
            lines += computed_cells.BLOCKS[part.block](report)
        elif isinstance(part, AverageSpec):
            lines += paper_tables.averages(report, name, part)
        elif isinstance(part, PartsSpec):
            lines += by_parts(report, name, part)
        else:
            lines += [line for table in tables(report, name, section, part) for line in table]
    return lines


def tables(report: Report, name: str, section: SectionSpec, spec: TableSpec) -> Iterator[list[str]]:
    """Yield the lines of each table that an entry makes: title, rows, caption, notes."""
    table = spec.table or name
    groups = [group for group in report.groups(table) if _wanted(group[0], spec, report.datasets(table))]
    found: list[list[Group]] = [[group] for group in groups]
    if spec.each == "set":
        sets = dict.fromkeys(dataset for dataset, _ in groups)
        found = [[group for group in groups if group[0] == dataset] for dataset in sets]
    elif spec.each == "all":
        found = [groups] if groups else []
    for own in found:
        for measure, words in spec.measures.items():
            values = {"m": measure, "measure": words}
            if spec.each != "all":
                values["dataset"] = own[0][0]
                lists = next((one for one in report.facts.lists if one.name == own[0][0]), None)
                values["origin"] = f" ({lists.origin})" if lists and lists.origin else ""
            if spec.each == "group":
                values["split"] = own[0][1]
            yield _table(report, table, section, spec, own, values)


def _wanted(dataset: str, spec: TableSpec, datasets: list[str]) -> bool:
    return (
        (not spec.sets or dataset in spec.sets)
        and dataset not in spec.without
        and not computed_cells.is_part(dataset, spec.parts, datasets)
    )


def _table(
    report: Report,
    table: str,
    section: SectionSpec,
    spec: TableSpec,
    groups: list[Group],
    values: dict[str, str],
) -> list[str]:
    where = computed_cells.TableContext(table, values)
    for metric, there in ((spec.given, True), (spec.missing, False)):
        if metric and there != any(report.systems(table, *group, [metric]) for group in groups):
            return []
    columns = list(_columns(spec, groups, values))
    metrics = [fill(metric, values) for metric in spec.rows] or [
        metric
        for column in columns
        if column.spec.caption and not column.spec.computed
        for metric in column.spec.filled(**column.values).metrics
    ]
    systems = [
        system
        for system in report.sorted(
            {system for group in groups for system in report.systems(table, *group, metrics)}
        )
        if (spec.readings is None or report.reading(system) in spec.readings)
        and report.reading(system) not in spec.without_readings
        and report.model(system) != spec.above
    ]
    if not systems:
        return []
    above = {system for group in groups for system in report.systems(table, *group, computed_cells.ENTROPY)}
    shown = [*report.sorted(one for one in above if report.model(one) == spec.above), *systems]
    rows = [
        [report.label(system), *(_entry(report, where, column, system) for column in columns)]
        for system in shown
    ]
    lines = [f"{fill(spec.title, {'split': '', **values}).strip()}:", ""]
    lines += grid([spec.head, *(column.spec.filled(**column.values).head for column in columns)], rows)
    lines += report.caption("" if section.timed else section.interval, spec.unit)
    return lines + [
        line for note in spec.notes for line in computed_cells.NOTES[note](report, where, systems)
    ]


def _columns(spec: TableSpec, groups: list[Group], values: dict[str, str]) -> Iterator[TableColumn]:
    """Yield the columns, those with `each` once for each of its values."""
    for column in spec.columns:
        several: list[dict[str, str]]
        if column.each == "groups":
            several = [
                {"for": f"{dataset} {split}", "dataset": dataset, "split": split} for dataset, split in groups
            ]
        elif column.each == "sets":
            several = [{"for": dataset} for dataset in dict.fromkeys(dataset for dataset, _ in groups)]
        elif column.each == "lengths":
            lengths = sorted((split for _, split in groups), key=computed_cells.least_words)
            several = [{"for": split, "words": computed_cells.words(split)} for split in lengths]
        else:
            several = [{"for": value} for value in column.each] if column.each else [{}]
        for more in several:
            if more.get("for") not in column.without:
                yield TableColumn(column, {**values, **more})


def _entry(report: Report, where: computed_cells.TableContext, column: TableColumn, system: str) -> str:
    """What stands in a column for a system."""
    spec = column.spec.filled(**column.values)
    if spec.computed:
        return computed_cells.CELLS[spec.computed](report, where, column.spec, system)
    split = None if spec.split == "any" else spec.split
    texts, cell = [], None
    for metric, number in zip(spec.metrics, spec.formats, strict=True):
        place = spec.table or where.table, spec.dataset, split, system, metric
        texts.append(report.text(FORMATS[number], *place, spec.caption, spec.bounds))
        cell = report.find(*place)
        if cell and not spec.text:
            return texts[-1]
    if cell is None or NONE in texts:
        return NONE
    return fill(spec.text, {"n": str(cell.n), **{str(at): text for at, text in enumerate(texts)}})
