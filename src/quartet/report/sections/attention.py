"""Where attention goes: shares by layer, and maps of one article (Segatron paper, Figures 5-8)."""

from __future__ import annotations

from quartet.report.cells import apart
from quartet.report.numbers import hundredfold
from quartet.report.page import Report, code

TABLE = "attention"
#: The reading of a model that stands for attention that treats all visible tokens alike.
UNIFORM = "uniform"
HEADS = {
    "own-sentence": "own sentence",
    "own-paragraph": "own paragraph",
    "itself": "itself",
    "before": "tokens before",
    "specials": "special tokens",
}


def body(report: Report) -> list[str]:
    """A table a corpus, a row a model and layer, then the maps."""
    lines = [
        "The share, in percent, of a token's attention that goes to its own sentence, its own paragraph (the own "
        "sentence is part of it), itself, the tokens before it, and special tokens; the mean over heads and tokens. "
        f"`/{UNIFORM}` is what attention spread evenly over all visible tokens would have: only above that does a "
        "layer look at its segment. Models that read single sentences were not trained on such inputs.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        columns = [
            report.measured(head, hundredfold, TABLE, dataset, split, metric)
            for metric, head in HEADS.items()
        ]
        systems = report.systems(TABLE, dataset, split, HEADS)
        if systems:
            lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
            lines += report.caption(TABLE, "tokens")
    return lines + report.figure(TABLE, "Attention of models and layers on one article, with its boundaries")


def findings(report: Report) -> list[str]:
    """The layers that are shown to look at the own sentence more, or less, than even attention would."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "own-sentence")
        sides: dict[int, list[str]] = {1: [], -1: []}
        for system, cell in cells.items():
            even = cells.get(f"{system.partition('/')[0]}/{UNIFORM}")
            if even is None or system.endswith(f"/{UNIFORM}"):
                continue
            side = apart(cell.bounds, even.bounds)
            if side:
                sides[side].append(
                    f"{code(system)} ({hundredfold(cell.value)} against {hundredfold(even.value)})"
                )
        parts = [
            f"{words} than even attention would: {', '.join(sides[side])}"
            for side, words in ((1, "more"), (-1, "less"))
            if sides[side]
        ]
        if parts:
            found.append(f"Attention within the own sentence on `{dataset}` (%), {'; '.join(parts)}.")
    return found
