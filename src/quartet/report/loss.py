"""Losses beside the entropy of the tokens, and who is below it."""

from __future__ import annotations

import math

from quartet.report.cells import Cell
from quartet.report.run_report import Report

TABLE, DIFFERENCE = "perplexity", "loss-difference"
UNIGRAM = "unigram"
#: What is said of a causal model whose positions tell of later tokens.
LEAK = (
    "the offsets of the released Segatron-XL tell earlier tokens where later sentences and paragraphs begin, so this "
    "is no perplexity; it is here for comparison with the released code alone."
)


def leaks(report: Report, system: str) -> bool:
    """Whether a causal model sees where later segments begin."""
    model = report.facts.model(system)
    return model is not None and model.leaks


def gains(cell: Cell) -> bool:
    """Whether a gain over the unigram is shown; where too few documents give an interval, by its value."""
    return (cell.bounds[0] if cell.bounds else cell.value) > 0


def at_unigram(report: Report, model: str) -> bool:
    """Whether a model of the run is not shown to be below the unigram entropy of the test tokens of its own corpus.

    A model without such a figure is not judged.
    """
    known = report.facts.model(model)
    cell = report.find(TABLE, known.corpus, "test", model, "gain") if known else None
    return cell is not None and not gains(cell)


def as_percent(difference: float) -> float:
    """The change of a perplexity whose loss is so many nats higher."""
    return 100 * math.expm1(difference)
