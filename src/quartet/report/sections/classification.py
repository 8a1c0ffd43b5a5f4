"""Classification of a small labelled set by fine-tuning, beside two baselines that need no language model."""

from __future__ import annotations

from quartet.report.cells import Cell, apart
from quartet.report.numbers import hundredfold, listing
from quartet.report.page import Report, code, named

TABLE = "classification"
BASELINES = ("majority", "bag-of-words")


def body(report: Report) -> list[str]:
    """A table a set."""
    lines = [
        "Accuracy and F1 in percent. `majority` always gives the most frequent label; `bag-of-words` is a "
        "logistic regression on word counts. n says how small the set is: it tells only large differences.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        columns = [
            report.measured("accuracy", hundredfold, TABLE, dataset, split, "accuracy"),
            report.measured("F1", hundredfold, TABLE, dataset, split, "f1"),
        ]
        systems = report.systems(TABLE, dataset, split, ["accuracy", "f1"])
        if systems:
            lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
            lines += report.caption(TABLE, "texts")
    return lines + report.figure(TABLE, "Accuracy by model, with intervals")


def findings(report: Report) -> list[str]:
    """For each set which models are shown to be above each baseline."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "accuracy")
        models = [system for system in cells if system not in BASELINES]
        if not models:
            continue
        values = [f"{code(system)} {cells[system].text(hundredfold)}" for system in models]
        text = (
            f"Classification on `{dataset}` ({cells[models[0]].n:,} texts, accuracy in %): {listing(values)}."
        )
        for baseline in BASELINES:
            if baseline in cells:
                text += _against(baseline, cells, models)
        found.append(text)
    return found


def _against(baseline: str, cells: dict[str, Cell], models: list[str]) -> str:
    """Models whose interval lies apart from the baseline's."""
    sides = {system: apart(cells[system].bounds, cells[baseline].bounds) for system in models}
    parts = []
    for side, words in ((1, "shown above"), (-1, "shown below"), (0, "not told from it")):
        systems = [system for system in models if sides[system] == side]
        if systems:
            parts.append(f"{words}: {'all' if len(systems) == len(models) > 1 else named(systems)}")
    return f" Against {code(baseline)} ({hundredfold(cells[baseline].value)}): {'; '.join(parts)}."
