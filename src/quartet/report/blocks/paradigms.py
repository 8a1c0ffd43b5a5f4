"""BLiMP's phenomena and their paradigms: a row each, a column a system."""

from __future__ import annotations

from quartet.report.numbers import hundredfold
from quartet.report.run_report import Report, code, grid
from quartet.tasks.blimp.data import PHENOMENA

TABLE = "blimp"


def block(report: Report) -> list[str]:
    """A table a set: a phenomenon in bold (the mean of its paradigms), then its paradigms."""
    known = {name for members in PHENOMENA.values() for name in members}
    datasets = report.datasets(TABLE)
    lines: list[str] = []
    for dataset, split in report.groups(TABLE):
        others = [other for other in datasets if other.startswith(f"{dataset}/")]
        here = {name: f"{dataset}/{name}" for name in known if f"{dataset}/{name}" in others}
        places = set(here.values()) | {f"{dataset}/phenomenon/{name}" for name in PHENOMENA}
        places |= {f"{dataset}/field/{name}" for name in FIELDS}
        more = {
            name: other
            for other in others
            if other not in places and "/" not in (name := other.removeprefix(f"{dataset}/"))
        }
        phenomena = {name: [one for one in members if one in here] for name, members in PHENOMENA.items()} | {
            "others": sorted(more)
        }
        found = here | more
        systems = report.sorted(
            {one for place in found.values() for one in report.systems(TABLE, place, split, ["accuracy"])}
        )
        rows = []
        for phenomenon, members in phenomena.items():
            if members:
                whole = _row(report, f"{dataset}/phenomenon/{phenomenon}", split, systems, True)
                rows.append([f"**{phenomenon.replace('_', ' ')}**", *whole])
                rows += [[code(one), *_row(report, found[one], split, systems, False)] for one in members]
        if rows:
            lines += [
                f"By phenomenon (the mean of its paradigms, in bold) and paradigm, {len(found)} paradigms:",
                "",
                *grid(["", *map(code, systems)], rows),
                *report.caption("95 % bootstrap interval over pairs within paradigms", "pairs"),
                *_widest(report, found, split),
            ]
    return lines


#: The fields of linguistics, which have columns of another table.
FIELDS = ("morphology", "syntax", "semantics", "syntax_semantics")


def _row(report: Report, dataset: str, split: str, systems: list[str], bounds: bool) -> list[str]:
    return [
        report.text(hundredfold, TABLE, dataset, split, system, "accuracy", bounds=bounds)
        for system in systems
    ]


def _widest(report: Report, paradigms: dict[str, str], split: str) -> list[str]:
    halves = [
        (cell.bounds[1] - cell.bounds[0]) / 2
        for dataset in paradigms.values()
        for cell in report.figures(TABLE, dataset, split, "accuracy").values()
        if cell.bounds
    ]
    if not halves:
        return []
    widest = hundredfold(max(halves))
    return [f"The intervals of the paradigms (Wilson's) stand in `results.jsonl`: up to ± {widest}.", ""]
