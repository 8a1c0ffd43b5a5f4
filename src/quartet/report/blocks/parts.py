"""A set by its parts: what the entry `PartsSpec` makes, a row a part, a column a system."""

from __future__ import annotations

from quartet.report.numbers import hundredfold
from quartet.report.run_report import Report, code, grid
from quartet.report.spec import PartsSpec, fill


def by_parts(report: Report, name: str, spec: PartsSpec) -> list[str]:
    """A table a set that has parts: a group in bold, then its parts."""
    lines: list[str] = []
    for dataset, split in report.groups(name):
        cells = {
            part: report.figures(name, other, split, spec.metric)
            for other in report.datasets(name)
            if other.startswith(f"{dataset}/") and "/" not in (part := other.removeprefix(f"{dataset}/"))
        }
        groups = {group: [part for part in parts if part in cells] for group, parts in spec.parts.items()}
        groups["others"] = sorted(cells.keys() - {part for parts in groups.values() for part in parts})
        systems = report.sorted({system for found in cells.values() for system in found})
        rows = []
        for group, parts in groups.items():
            whole = [(f"**{group.replace('_', ' ')}**", f"{spec.group}/{group}", True)] if parts else []
            for head, part, bounds in (*whole, *((code(part), part, False) for part in parts)):
                place = name, f"{dataset}/{part}", split
                texts = (report.text(hundredfold, *place, one, spec.metric, bounds=bounds) for one in systems)
                rows.append([head, *texts])
        if rows:
            ends = [cell.bounds for found in cells.values() for cell in found.values() if cell.bounds]
            lines += [f"{fill(spec.title, {'n': str(len(cells))})}:", ""]
            lines += [*grid(["", *map(code, systems)], rows), *report.caption(spec.interval, spec.unit)]
        if rows and ends:
            widest = max((high - low) / 2 for low, high in ends)
            lines += [fill(spec.note, {"widest": hundredfold(widest)}), ""]
    return lines
