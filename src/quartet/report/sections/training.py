"""What was trained, and the validation loss that it ended with."""

from __future__ import annotations

from collections.abc import Callable

from quartet.report.facts import ModelFacts
from quartet.report.numbers import NONE, count, loss, millions
from quartet.report.page import Column, Report

TABLE = "training"
#: What a training costs: by metric, the head of its column and how it is written.
SIZES = {
    "parameters": ("parameters", millions),
    "tokens": ("tokens read", millions),
}


def body(report: Report) -> list[str]:
    """A table a corpus: what each model predicts, reads and sees, its size, and its loss."""
    lines = [
        "Losses are in nats a predicted token, on the validation split. They compare within one kind of "
        "prediction and one kind of input only: a masked or hidden token with both sides in view is another "
        "question than the next one, and running text gives more context than a sentence alone.",
        "",
    ]
    datasets = report.datasets(TABLE)
    for dataset in datasets:
        if len(datasets) > 1:
            lines += [f"On `{dataset}`:", ""]
        lines += _table(report, dataset)
    return lines + report.figure(TABLE, "Validation loss while training, a panel for each kind of prediction")


def _table(report: Report, dataset: str) -> list[str]:
    def steps(system: str) -> str:
        text = report.text(count, TABLE, dataset, None, system, "steps", counted=False)
        return _fact(report, lambda model: count(model.steps))(system) if text == NONE else text

    columns = [
        Column("predicts", _fact(report, lambda model: model.objective.upper())),
        Column("reads", _fact(report, lambda model: model.reads)),
        Column("positions", _fact(report, lambda model: ", ".join(model.positions))),
        Column("variant", _fact(report, lambda model: ", ".join(model.variant) or NONE)),
        Column("steps", steps),
        *(
            report.measured(head, number, TABLE, dataset, None, metric, counted=False)
            for metric, (head, number) in SIZES.items()
        ),
        report.measured("validation loss", loss, TABLE, dataset, "valid", "loss"),
    ]
    systems = report.systems(TABLE, dataset, None, [*SIZES, "steps", "loss"])
    return report.table(systems, columns, head="model") + report.caption(TABLE, "validation tokens")


def findings(report: Report) -> list[str]:
    """Nothing: losses on the validation split choose nothing and are no test."""
    return []


def _fact(report: Report, tell: Callable[[ModelFacts], str]) -> Callable[[str], str]:
    def text(system: str) -> str:
        model = report.facts.model(system)
        return NONE if model is None else tell(model)

    return text
