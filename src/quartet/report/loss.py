"""Losses beside the entropy of the tokens, and differences of losses: what the tables and sentences compute of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from quartet.report.cells import Bounds, Cell, apart, interval
from quartet.report.numbers import nats, signed_points
from quartet.report.run_report import Report
from quartet.results import system_name

TABLE, PAIRS = "perplexity", "perplexity-pairs"
UNIGRAM = "unigram"
#: What two models must share for their difference to be one of positions, and by what share their parameters may
#: differ (the tables of positions).
SAME = ("objective", "architecture", "reads", "tokenizer", "corpus", "steps")
POSITION_TABLES = 0.1
#: What is said of a causal model whose positions tell of later tokens.
LEAK = (
    "the offsets of the released Segatron-XL tell earlier tokens where later sentences and paragraphs begin, so this "
    "is no perplexity; it is here for comparison with the released code alone."
)


@dataclass(frozen=True)
class LossMargin:
    """Nats per token by which a loss is below the unigram entropy of its tokens; bounds None: no interval."""

    value: float
    bounds: Bounds | None

    @property
    def text(self) -> str:
        """Two decimals, with the interval where there is one."""
        return nats(self.value) + (f" {interval(self.bounds, nats)}" if self.bounds else "")


def leaks(report: Report, system: str) -> bool:
    """Whether a causal model sees where later segments begin."""
    model = report.facts.model(system)
    return model is not None and model.leaks


def entropy(report: Report, dataset: str, split: str, system: str) -> Cell | None:
    """The unigram entropy of the tokens that a system reads: of its tokenizer's, where there are several."""
    model = report.facts.model(system)
    names = [system_name(UNIGRAM, model.tokenizer)] if model else []
    cells = (
        report.find(TABLE, dataset, split, name, metric)
        for name in (*names, UNIGRAM)
        for metric in ("entropy", "loss")
    )
    return next((cell for cell in cells if cell), None)


def margin(report: Report, dataset: str, split: str, system: str, metric: str) -> LossMargin | None:
    """The measured gain where there is one; else from the loss's own interval, the entropy taken as exact."""
    gain = report.find(TABLE, dataset, split, system, "gain")
    if gain is not None:
        return LossMargin(gain.value, gain.bounds)
    base = entropy(report, dataset, split, system)
    cell = report.find(TABLE, dataset, split, system, metric)
    if base is None or cell is None or base.n != cell.n:
        return None

    def below(ppl: float) -> float:
        return base.value - math.log(ppl)

    return LossMargin(below(cell.value), cell.bounds and (below(cell.bounds[1]), below(cell.bounds[0])))


def as_percent(difference: float) -> float:
    """The change of a perplexity whose loss is so many nats higher."""
    return 100 * math.expm1(difference)


def change(
    report: Report, dataset: str, split: str, first: str, second: str
) -> tuple[float, Bounds | None] | None:
    """By how many percent the first model's perplexity is above the second's, whichever way round they stand."""
    found = report.between(PAIRS, dataset, split, first, second, "loss-difference")
    if found is None:
        return None
    cell, sign = found
    ends = sorted(as_percent(sign * end) for end in cell.bounds or ())
    return as_percent(sign * cell.value), (ends[0], ends[1]) if ends else None


def of_positions(report: Report, cells: dict[str, Cell]) -> list[tuple[str, str]]:
    """The pairs of models that differ in nothing but positions: one with segments, then one without."""
    models = {system: model for system in cells if (model := report.facts.model(system)) and not model.leaks}
    return [
        (system, other)
        for system, model in models.items()
        for other, without in models.items()
        if model.segment_aware
        and not without.segment_aware
        and all(getattr(model, key) == getattr(without, key) for key in SAME)
        and cells[system].n == cells[other].n
        and abs(model.parameters / without.parameters - 1) <= POSITION_TABLES
    ]


def segment_change(
    report: Report, dataset: str, split: str, pair: tuple[str, str], cells: dict[str, Cell]
) -> str:
    """What segment positions change: by the paired difference where there is one, else by the two intervals."""
    paired = change(report, dataset, split, *pair)
    if paired is None:
        side = apart(cells[pair[0]].bounds, cells[pair[1]].bounds)
        return {-1: "lower, the intervals apart", 0: "no difference shown: the intervals touch",
                1: "higher, the intervals apart"}[side]  # fmt: skip
    value, bounds = paired
    text = f"{signed_points(value)} %" + (f" {interval(bounds, signed_points)}" if bounds else "")
    side = apart(bounds, (0.0, 0.0))
    return f"{text} over the same documents, " + {-1: "lower", 0: "no difference shown", 1: "higher"}[side]
