"""Our figures in the form of the papers' tables: what the entries `AverageSpec` make."""

from __future__ import annotations

from quartet.report.numbers import NONE, fixed, hundredfold
from quartet.report.run_report import Report, code, grid, paper_table
from quartet.report.spec import AverageSpec


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
