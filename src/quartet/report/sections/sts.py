"""Semantic similarity without training for it (T-TA paper, Section 5.4, Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable

from quartet.report.cells import Cell, apart
from quartet.report.numbers import NONE, fixed, hundredfold, listing
from quartet.report.order import model_of
from quartet.report.page import Column, Report, code, named, paper_table

TABLE = "sts"
#: As many systems as a sentence names.
FEW = 4
#: The published tables, the splits of each, and how a head names them.
PAPERS = (
    ("tta-stsb", "dev", "STSb dev"),
    ("tta-stsb", "test", "STSb test"),
    ("tta-sick", "test", "SICK test"),
)


def body(report: Report) -> list[str]:
    """A table a set, with the papers' figures of the same reading of the same kind of model."""
    lines = [
        "The cosine of two texts' mean vectors against human scores, correlations × 100. `context`: the "
        "final layer; `embed`: the embedding layer. No model was trained on the task.",
        "",
    ]
    groups = report.groups(TABLE)
    for dataset, split in groups:
        columns = [
            report.measured("Pearson", hundredfold, TABLE, dataset, split, "pearson"),
            report.measured("Spearman", hundredfold, TABLE, dataset, split, "spearman"),
            *(Column(f"paper, {head}", _published(name, part)) for name, part, head in PAPERS),
        ]
        systems = report.systems(TABLE, dataset, split, ["pearson", "spearman"])
        if systems:
            lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
            lines += report.caption(TABLE, "pairs")
    if groups:
        _, where = paper_table("tta-stsb")
        lines += [
            f'Columns "paper" are Pearson × 100 as printed in the {where} (STSb, the STS Benchmark) and '
            "Table 4 (SICK): other sets, and models at the paper's scale. The embedding layer of a masked model is "
            "there in the row of its intact input.",
            "",
        ]
    return lines + report.figure(TABLE, "Pearson correlation by model and layer, with intervals")


def findings(report: Report) -> list[str]:
    """For each set the highest system, whom it is shown to be above, and T-TA beside the masked model."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "pearson")
        if not cells:
            continue
        best = max(cells, key=lambda system: cells[system].value)
        below = [system for system in cells if apart(cells[system].bounds, cells[best].bounds) < 0]
        rest = [system for system in cells if system not in (*below, best)]
        text = (
            f"Similarity on `{dataset}` ({cells[best].n:,} pairs, Pearson × 100): {code(best)} is highest, "
        )
        text += f"{cells[best].text(hundredfold)}"
        text += f"; shown to be below it: {_some(below)}" if below else ""
        text += f"; not told from it: {_some(rest)}" if rest else ""
        found.append(text + "." + _pairs(report, cells))
    return found


def _pairs(report: Report, cells: dict[str, Cell]) -> str:
    """The LAE models' final layer beside that of the masked models that read the same kind of input."""
    parts = []
    for system, ours in cells.items():
        for other, theirs in cells.items():
            models = (
                report.facts.model(model_of(system, report.facts)),
                report.facts.model(model_of(other, report.facts)),
            )
            lae, mlm = models
            if (
                lae is None
                or mlm is None
                or (system, other) != (f"{lae.name}/context", f"{mlm.name}/context")
            ):
                continue
            if (lae.objective, mlm.objective) != ("lae", "mlm"):
                continue
            if (lae.reads, lae.segment_aware) != (mlm.reads, mlm.segment_aware):
                continue
            verdict = {1: "above", -1: "below", 0: "not told from"}[apart(ours.bounds, theirs.bounds)]
            figures = ours.text(hundredfold), theirs.text(hundredfold)
            parts.append(f"{code(system)} ({figures[0]}) is {verdict} {code(other)} ({figures[1]})")
    return f" {listing(parts)}." if parts else ""


def _some(systems: list[str]) -> str:
    return named(systems) if len(systems) <= FEW else f"{len(systems)} others"


def _published(name: str, split: str) -> Callable[[str], str]:
    table, _ = paper_table(name)

    def text(system: str) -> str:
        model, _, reading = system.partition("/")
        column = f"{split}-{reading or 'embed'}"  # vectors of words alone are the papers' "embed"
        rows = (model, f"{model}-intact")[: 2 if reading == "embed" else 1]  # where nothing is masked
        values = [table.get(row, column) for row in rows if column in table.columns]
        value = next((value for value in values if value is not None), None)
        return NONE if value is None else fixed(1)(value)

    return text
