"""Models that came trained (``pretrained:`` of params.yaml): what the report says of them wherever they stand.

They read other text, at another size, than the models of the experiment, so they are never counted among these.
"""

from __future__ import annotations

from collections.abc import Iterable

from quartet.report.numbers import listing
from quartet.report.run_report import Report, code, plain

#: What a T-TA of single sentences is: the row of the T-TA paper that such a model stands beside.
TTA = ("lae", "sentences")


def likes_of_tta(report: Report) -> list[str]:
    """The names of those that are T-TAs of single sentences."""
    return [one.name for one in report.facts.pretrained if (one.objective, one.reads) == TTA]


def described(report: Report, tables: Iterable[str]) -> list[str]:
    """Each of those that have a figure in the tables, with its scale: "`tta-books` (13.89 M parameters, ...)"."""
    tables = list(tables)
    found = []
    for one in report.facts.pretrained:
        scales = (
            cell.rows[0].scale
            for table in tables
            for place in report.cells.places(table)
            if report.model(place.system) == one.name and (cell := report.cells.find(place))
        )
        if scale := next(scales, None):
            found.append(f"{code(one.name)} ({plain(scale)})")
    return found


def note(report: Report, table: str) -> list[str]:
    """A paragraph for the section of a table that has rows of such models; nothing where there are none."""
    found = described(report, [table])
    if not found:
        return []
    many = len(found) > 1
    return [
        f"{listing(found)} {'were' if many else 'was'} trained elsewhere, on other text and at another size: "
        f"{'their' if many else 'its'} rows show what such a model is good for, and compare no objectives.",
        "",
    ]
