"""Multiple choice on passages: RACE (Segatron paper, Table 7)."""

from __future__ import annotations

from collections.abc import Callable

from quartet.report.cells import apart
from quartet.report.numbers import NONE, fixed, hundredfold
from quartet.report.page import Column, Report, code, grid, paper_table

TABLE = "race"
BASELINES = ("majority", "bag-of-words")
#: Behind a set's name: the questions of one level.
PARTS = ("-middle", "-high")
#: The same letter always, or any letter by chance.
CHANCE = 0.25


def body(report: Report) -> list[str]:
    """A table a set and split: all questions and each level."""
    paper, where = paper_table("segatron-race")
    lines = [
        f"Accuracy in percent; a guess among four options has {hundredfold(CHANCE)}. `majority` always gives the "
        "letter that is most often right in training; `bag-of-words` is a logistic regression on the words of single "
        "options, which sees neither passage nor question. `/released`: passage first, then question and option, as in "
        "the released code; else question and option first, as in the paper. `passage read`: the share of the "
        "passages' tokens that the models' input length leaves.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        if _part(dataset):
            continue
        columns = [report.measured("all", hundredfold, TABLE, dataset, split, "accuracy")]
        columns += [
            report.measured(part.removeprefix("-"), hundredfold, TABLE, f"{dataset}{part}", split, "accuracy")
            for part in PARTS
        ]
        columns.append(
            report.measured(
                "passage read, %", hundredfold, TABLE, dataset, split, "passage-read", counted=False
            )
        )
        if split in paper.columns:
            columns.append(Column("paper", _published(split)))
        systems = report.systems(TABLE, dataset, split, ["accuracy"])
        if systems:
            lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
            lines += report.caption(TABLE, "questions")
    rows = [
        [code(system), *(NONE if value is None else fixed(1)(value) for value in numbers)]
        for system, numbers in paper.rows.items()
    ]
    return [*lines, f"{where}, in full:", "", *grid(["published", *paper.columns], rows)]


def findings(report: Report) -> list[str]:
    """For each set and split the highest model, and which baselines it is shown to be above."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "accuracy")
        models = [system for system in cells if system not in BASELINES]
        if not models or _part(dataset):
            continue
        best = max(models, key=lambda system: cells[system].value)
        bounds = cells[best].bounds
        verdict = {1: "shown above", -1: "shown below", 0: "not told from"}
        parts = [f"{verdict[apart(bounds, (CHANCE, CHANCE))]} chance ({hundredfold(CHANCE)})"]
        parts += [
            f"{verdict[apart(bounds, cells[one].bounds)]} {code(one)} ({hundredfold(cells[one].value)})"
            for one in BASELINES
            if one in cells
        ]
        found.append(
            f"Multiple choice on `{dataset}` {split} ({cells[best].n:,} questions, accuracy in %): {code(best)} is "
            f"highest, {cells[best].text(hundredfold)}; {'; '.join(parts)}."
        )
    return found


def _part(dataset: str) -> bool:
    return dataset.endswith(PARTS)


def _published(column: str) -> Callable[[str], str]:
    table, _ = paper_table("segatron-race")

    def text(system: str) -> str:
        value = table.get(system.partition("/")[0], column)
        return NONE if value is None else fixed(1)(value)

    return text
