"""Reranked lists beside the papers' (T-TA paper, Tables 1, 2, 5, 6): a row a published column, a column a system."""

from __future__ import annotations

from quartet.report.numbers import NONE, listing, wer
from quartet.report.published import PublishedTable
from quartet.report.run_report import Report, code, grid, paper_table

TABLE, FIRST = "rerank", "first-pass"
#: The published tables of each metric.
PAPERS = {"wer": ("tta-wer-own", "tta-wer-shin2019"), "bleu": ("tta-bleu",)}


def block(report: Report) -> list[str]:
    """A table a set of lists, each figure with its change relative to its own first pass."""
    lines: list[str] = []
    for dataset in report.datasets(TABLE):
        for metric, papers in PAPERS.items():
            tables = [paper_table(name) for name in papers]
            cells = report.figures(TABLE, dataset, "test", metric)
            known = [system for system in cells if any(system in table.rows for table, _ in tables)]
            if known:
                where = listing(list(dict.fromkeys(place for _, place in tables)))
                first = cells[FIRST].value if FIRST in cells else None
                ours = ["ours, test", *(_relative(cells[system].value, first) for system in known)]
                rows = [
                    [f"{table.title}: {column}", *(_printed(table, system, column) for system in known)]
                    for table, _ in tables
                    for column in table.columns
                ]
                lines += [
                    f"**`{dataset}`** test beside the {where}, of other lists, other training text and other model "
                    "sizes; in brackets each figure's change relative to its own first pass:",
                    "",
                    *grid(["lists", *map(code, known)], [ours, *rows]),
                ]
    return lines


def _printed(table: PublishedTable, system: str, column: str) -> str:
    value = table.get(system, column)
    return NONE if value is None else _relative(value, table.get(FIRST, column))


def _relative(value: float, first: float | None) -> str:
    if not first or value == first:
        return wer(value)
    return f"{wer(value)} ({100 * (value / first - 1):+.1f} %)"
