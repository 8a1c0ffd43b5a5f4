"""Answers found in paragraphs: SQuAD (Segatron paper, Table 6)."""

from __future__ import annotations

from collections.abc import Callable

from quartet.report.cells import apart
from quartet.report.numbers import NONE, fixed, hundredfold
from quartet.report.page import Column, Report, code, grid, paper_table

TABLE = "squad"
#: Systems that read nothing.
BASELINES = ("random-span", "no-answer")
#: A metric that only version 2.0 has.
SECOND = "noans"
_BEST = {"EM": "em-best", "F1": "f1-best"}


def body(report: Report) -> list[str]:
    """A table a set and split, with the paper's figures of the same model."""
    table, where = paper_table("segatron-squad")
    lines = [
        "Exact match (EM) and F1 in percent, by the official formulas (torchmetrics). Each model was fine-tuned on the "
        "set's training questions. `random-span` takes a span of the paragraph at random: what knowing nothing gives. "
        "`/released`: the whole paragraph text is one paragraph to the model, as in the released code.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        second = bool(report.figures(TABLE, dataset, split, SECOND))
        measured = {"EM": "em", "F1": "f1"}
        if second:
            measured |= {"EM, answerable": "em-hasans", "F1, answerable": "f1-hasans", "unanswerable": SECOND}
            measured |= {f"best {head}": metric for head, metric in _BEST.items()}
        columns = [
            report.measured(head, hundredfold, TABLE, dataset, split, metric)
            for head, metric in measured.items()
        ]
        if second:
            columns += [
                report.measured(
                    f"threshold of best {head}",
                    fixed(2),
                    TABLE,
                    dataset,
                    split,
                    metric.replace("best", "threshold"),
                    bounds=False,
                )
                for head, metric in _BEST.items()
            ]
        version = "v2.0" if second else "v1.1"
        columns += [Column(f"paper, {head}", _published(f"{version}-{head.lower()}")) for head in _BEST]
        systems = report.systems(TABLE, dataset, split, measured.values())
        if systems:
            lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
            lines += report.caption(TABLE, "questions")
        if second:
            lines += [
                "EM and F1 leave a question unanswered where that scores higher than the best span. The best figures "
                "shift this threshold to what suits these very questions, as the official script does: upper bounds.",
                "",
            ]
    rows = [
        [code(system), *(NONE if value is None else fixed(1)(value) for value in numbers)]
        for system, numbers in table.rows.items()
    ]
    return [
        *lines,
        f'Columns "paper" are from the {where}: whole training and development sets, models at the paper\'s scale. In '
        "full:",
        "",
        *grid(["published", *table.columns], rows),
    ]


def findings(report: Report) -> list[str]:
    """For each set the highest model, and whether it is shown to be above knowing nothing."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "f1")
        models = [system for system in cells if system not in BASELINES]
        if not models:
            continue
        best = max(models, key=lambda system: cells[system].value)
        text = (
            f"Answers on `{dataset}` {split} ({cells[best].n:,} questions, F1 in %): {code(best)} is highest, "
            f"{cells[best].text(hundredfold)}"
        )
        for baseline in (one for one in BASELINES if one in cells):
            verdict = {1: "shown above", -1: "shown below", 0: "not told from"}
            side = apart(cells[best].bounds, cells[baseline].bounds)
            text += f"; {verdict[side]} {code(baseline)} ({hundredfold(cells[baseline].value)})"
        found.append(f"{text}.")
    return found


def _published(column: str) -> Callable[[str], str]:
    table, _ = paper_table("segatron-squad")

    def text(system: str) -> str:
        value = table.get(system.partition("/")[0], column)
        return NONE if value is None else fixed(1)(value)

    return text
