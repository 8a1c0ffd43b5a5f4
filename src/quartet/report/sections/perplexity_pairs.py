"""Models that read the same tokens, each held against each other over the same documents."""

from __future__ import annotations

import math
from functools import partial

from quartet.report.cells import Bounds, apart, interval
from quartet.report.numbers import NONE, fixed
from quartet.report.page import Column, Report, code, named

TABLE = "perplexity-pairs"
METRIC = "loss-difference"
#: Pairs that a sentence names at most.
NAMED = 6

difference = fixed(4, sign=True)
percent = fixed(1, sign=True)


def body(report: Report) -> list[str]:
    """For each set a row a pair of models."""
    lines = [
        "The first model minus the second over the same tokens, losses with losses and pseudo-losses with "
        "pseudo-losses. Documents are resampled, the same ones for both: what makes a document easy or hard is common "
        "to the two, so these intervals are far narrower than those of the figures themselves. `perplexity` is the "
        f"same difference as a change of the (pseudo-)perplexity a token. {_of_seeds(report)}",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        pairs = report.systems(TABLE, dataset, split, [METRIC])
        columns = [
            report.measured("loss, nats a token", difference, TABLE, dataset, split, METRIC),
            Column("perplexity", partial(_change_text, report, dataset, split)),
        ]
        lines += [f"**`{dataset}`** {split}:", "", *report.table(pairs, columns, "models")]
        lines += report.caption(TABLE, "tokens")
    return lines


def _of_seeds(report: Report) -> str:
    """Whether the luck of a training is in the intervals."""
    if len(report.facts.seeds) > 1:
        return "A model is held against the other of the same seed, and each seed has an interval over documents."
    return "They are intervals over documents: what another seed of the training would change is not in them."


def change(
    report: Report, dataset: str, split: str, first: str, second: str
) -> tuple[float, Bounds | None] | None:
    """By how many percent the first model's perplexity is above the second's, whichever way round they stand."""
    for pair, sign in ((f"{first} - {second}", 1), (f"{second} - {first}", -1)):
        cell = report.find(TABLE, dataset, split, pair, METRIC)
        if cell is not None:
            ends = sorted(_percent(sign * end) for end in cell.bounds or ())
            return _percent(sign * cell.value), (ends[0], ends[1]) if ends else None
    return None


def change_text(value: float, bounds: Bounds | None) -> str:
    """Such as "-7.8 % [-9.0, -6.5]"."""
    return f"{percent(value)} %" + (f" {interval(bounds, percent)}" if bounds else "")


def findings(report: Report) -> list[str]:
    """How many pairs of each set are told apart."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, METRIC)
        told = [pair for pair, cell in cells.items() if apart(cell.bounds, (0.0, 0.0))]
        shown = f": {named(told)}" if 0 < len(told) <= NAMED else ""
        found.append(
            f"Models against each other on {code(dataset)} {split}, over the same documents: {len(told)} of "
            f"{len(cells)} differences in loss are shown to be other than 0{shown}."
        )
    return found


def _change_text(report: Report, dataset: str, split: str, pair: str) -> str:
    first, second = pair.split(" - ")
    found = change(report, dataset, split, first, second)
    return NONE if found is None else change_text(*found)


def _percent(nats: float) -> float:
    """The change of a perplexity whose loss is so many nats higher."""
    return 100 * math.expm1(nats)
