"""What stands in tables without being a stored figure: cells, notes and blocks, by the names that sections have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quartet.report import loss
from quartet.report.blocks import durations, runtime
from quartet.report.facts import ModelFacts
from quartet.report.numbers import FORMATS, NONE
from quartet.report.run_report import Report, named
from quartet.report.spec import ColumnSpec

#: The metrics of frequencies alone.
ENTROPY = ("entropy", "loss")
#: How the two measures of a language model are called.
MEASURES = {"ppl": "PPL", "pppl": "pPPL"}


@dataclass(frozen=True)
class TableContext:
    """The table of a cell, and what its texts stand for."""

    table: str
    values: dict[str, str]

    @property
    def dataset(self) -> str:
        """The set."""
        return self.values["dataset"]

    @property
    def split(self) -> str:
        """The split."""
        return self.values["split"]


#: The report, the table, the column and the system -> the cell.
Computed = Callable[[Report, TableContext, ColumnSpec, str], str]


def is_part(dataset: str, endings: Sequence[str], datasets: Sequence[str]) -> bool:
    """Whether a set is another one with such an ending, or whatever follows a slash."""
    return any(
        dataset.startswith(f"{other}/") if ending == "/" else dataset == f"{other}{ending}"
        for other in datasets
        for ending in endings
    )


def least_words(split: str) -> int:
    """The shortest reference of a range of lengths: 6 of "6-10"."""
    return int(split.partition("-")[0])


def words(split: str) -> str:
    """A range of lengths: "0-5 words", "21 words or more"."""
    low, _, high = split.partition("-")
    return f"{split} words" if high else f"{low} words or more"


def _of_model(told: Callable[[ModelFacts], str]) -> Computed:
    """A cell that says something of the model."""

    def cell(report: Report, _: TableContext, __: ColumnSpec, system: str) -> str:
        model = report.facts.model(system)
        return NONE if model is None else told(model) or NONE

    return cell


def _steps(report: Report, where: TableContext, _: ColumnSpec, system: str) -> str:
    text = report.text(FORMATS["count"], where.table, where.dataset, None, system, "steps", counted=False)
    model = report.facts.model(system)
    return FORMATS["count"](model.steps) if text == NONE and model else text


def _loss(report: Report, where: TableContext, _: ColumnSpec, system: str) -> str:
    place = where.table, where.dataset, where.split, system
    for metric in reversed(ENTROPY):
        text = report.text(FORMATS["three"], *place, metric, bounds=report.model(system) == loss.UNIGRAM)
        if text != NONE:
            return text
    cell = report.find(*place, where.values["m"])
    return NONE if cell is None else FORMATS["three"](math.log(cell.value))


def _kind(report: Report, where: TableContext, system: str) -> str:
    """Which of the two measures a system's figures are of."""
    return next(one for one in MEASURES if report.find(where.table, where.dataset, where.split, system, one))


def _tokens(report: Report, where: TableContext, _: ColumnSpec, system: str) -> str:
    found = (
        report.find(where.table, where.dataset, where.split, system, one) for one in (*MEASURES, *ENTROPY)
    )
    return next((FORMATS["count"](cell.n) for cell in found if cell), NONE)


#: A cell of a column with `computed`, by its name.
CELLS: dict[str, Computed] = {
    "predicts": _of_model(lambda model: model.objective.upper()),
    "reads": _of_model(lambda model: model.reads),
    "positions": _of_model(lambda model: ", ".join(model.positions)),
    "variant": _of_model(lambda model: ", ".join(model.variant)),
    "steps": _steps,
    "loss": _loss,
    "measure": lambda report, where, _, system: MEASURES[_kind(report, where, system)],
    "tokens": _tokens,
}


def _said_of(systems: list[str], words: str) -> list[str]:
    return [f"{named(systems)}: {words}", ""] if systems else []


def _other_tokens(report: Report, _: TableContext, systems: list[str]) -> list[str]:
    return _said_of(
        [system for system in systems if report.facts.model(system) is None],
        "tokens of its own, so only figures per word compare with other models'.",
    )


def _no_words(report: Report, where: TableContext, systems: list[str]) -> list[str]:
    metric = f"{where.values['m']}-word"
    return _said_of(
        [s for s in systems if report.find(where.table, where.dataset, where.split, s, metric) is None],
        "no figure per word, since unknown words share one probability and nothing tells them apart, or since no "
        "number holds it.",
    )


def _leaks(report: Report, _: TableContext, systems: list[str]) -> list[str]:
    return _said_of([system for system in systems if loss.leaks(report, system)], loss.LEAK)


def _dev_choice(report: Report, where: TableContext, _: list[str]) -> list[str]:
    """Differences on dev, where the weight was chosen, stand in results.jsonl alone; test's weight is dev's."""
    report.omit(where.table, where.dataset, "dev", [f"{where.values['m']}-difference"])
    report.omit(where.table, where.dataset, "test", ["weight"])
    return []


#: What is said below a table of some of its rows.
NOTES: dict[str, Callable[[Report, TableContext, list[str]], list[str]]] = {
    "other-tokens": _other_tokens,
    "no-words": _no_words,
    "leaks": _leaks,
    "dev-choice": _dev_choice,
}
#: What no table of systems makes.
BLOCKS: dict[str, Callable[[Report], list[str]]] = {
    "runtime": runtime.block,
    "durations": durations.block,
}
