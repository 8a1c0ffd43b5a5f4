"""Our figures in the form of the papers' tables: what the entries `AverageSpec` and `BesideSpec` make."""

from __future__ import annotations

from quartet.report.numbers import FORMATS, NONE, fixed, hundredfold, listing
from quartet.report.run_report import Report, code, grid, paper_table
from quartet.report.spec import AverageSpec, BesideSpec


def averages(report: Report, name: str, spec: AverageSpec) -> list[str]:
    """A table a split: a figure a set, the mean of rows that have all of them, and the paper's rows below."""
    lines: list[str] = []
    for split, paper in spec.papers.items():
        places = [(one.dataset, f"{split}{one.part}", one.metric) for one in spec.average]
        systems = {system for place in places for system in report.figures(name, *place)}
        if not systems:
            continue
        table, where = paper_table(paper)
        rows = []
        for system in report.sorted(systems):
            cells = [report.find(name, dataset, part, system, metric) for dataset, part, metric in places]
            whole = [cell.value for cell in cells if cell]
            average = hundredfold(sum(whole) / len(cells)) if len(whole) == len(cells) else NONE
            rows.append(
                [code(system), *(hundredfold(cell.value) if cell else NONE for cell in cells), average]
            )
        rows += [
            [f"paper: {code(row)}", *(NONE if one is None else fixed(1)(one) for one in printed)]
            for row, printed in table.rows.items()
        ]
        heads = ["system", *(f"{one.head}, {one.words}" for one in spec.average), "average"]
        lines += [f"**{split}, in the form of the {where}**, × 100:", "", *grid(heads, rows)]
    return [*lines, spec.note, ""] if lines else []


def beside(report: Report, name: str, spec: BesideSpec) -> list[str]:
    """A table a set: our figures on test, a row a published column, a column a system that a paper has."""

    def relative(value: float, first: float | None) -> str:
        shown = FORMATS[spec.format](value)
        return shown if not first or value == first else f"{shown} ({100 * (value / first - 1):+.1f} %)"

    lines: list[str] = []
    for dataset in report.datasets(name):
        for metric, papers in spec.beside.items():
            tables = [paper_table(paper) for paper in papers]
            cells = report.figures(name, dataset, "test", metric)
            known = [system for system in cells if any(system in table.rows for table, _ in tables)]
            if not known:
                continue
            where = listing(list(dict.fromkeys(place for _, place in tables)))
            first = cells[spec.first].value if spec.first in cells else None
            rows = [["ours, test", *(relative(cells[system].value, first) for system in known)]]
            for table, _ in tables:
                for column in table.columns:
                    printed = [table.get(system, column) for system in known]
                    base = table.get(spec.first, column)
                    shown = [NONE if value is None else relative(value, base) for value in printed]
                    rows.append([f"{table.title}: {column}", *shown])
            lines += [
                f"**`{dataset}`** test beside the {where}, {spec.words}:",
                "",
                *grid([spec.head, *map(code, known)], rows),
            ]
    return lines
