"""Similarity of words by the models' embedding tables, beside word2vec on the same text."""

from __future__ import annotations

from quartet.report.cells import apart
from quartet.report.numbers import count, hundredfold
from quartet.report.page import Column, Report, code

TABLE = "wordsim"


def body(report: Report) -> list[str]:
    """A table a set."""
    lines = [
        "The cosine of two words' vectors against human scores, correlations × 100. A word's vector is the "
        "mean of its pieces' rows in the embedding table. Coverage is the share of the set's pairs that "
        "have vectors; n counts those.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        systems = report.systems(TABLE, dataset, split, ["pearson", "spearman", "coverage"])
        if not systems:
            continue

        def coverage(system: str, dataset: str = dataset, split: str = split) -> str:
            cell = report.find(TABLE, dataset, split, system, "coverage")
            # a share, or the number of pairs where it is above 1
            number = count if cell is not None and cell.value > 1 else lambda value: f"{100 * value:.0f} %"
            return report.text(number, TABLE, dataset, split, system, "coverage", counted=False)

        columns = [
            report.measured("Spearman", hundredfold, TABLE, dataset, split, "spearman"),
            report.measured("Pearson", hundredfold, TABLE, dataset, split, "pearson"),
            Column("coverage", coverage),
        ]
        lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
        lines += report.caption(TABLE, "pairs")
    return lines + report.figure(TABLE, "Word similarity by model, with intervals")


def findings(report: Report) -> list[str]:
    """Which tables are shown to know anything of each set: an interval above 0."""
    parts = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "spearman")
        if not cells:
            continue
        above = [system for system, cell in cells.items() if apart(cell.bounds, (0.0, 0.0)) > 0]
        best = max(cells, key=lambda system: cells[system].value)
        text = f"on `{dataset}` {len(above)} of {len(cells)} embedding tables are shown to be above 0"
        parts.append(f"{text} (highest: {code(best)} {cells[best].text(hundredfold)})")
    return [f"Word similarity (Spearman × 100): {'; '.join(parts)}."] if parts else []
