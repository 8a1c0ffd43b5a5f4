"""The best weight of one language model, found exactly: the line search of Och (2003, Section 3) on N-best lists.

With lambda = weight / (1 - weight) the score of a hypothesis is proportional to first pass + lambda * language model, a
line in lambda. A list chooses its highest line, so its choice changes only at the corners of the lines' upper envelope.
The figure of a whole set is constant between the corners of all its lists: no weight is missed, whatever the units of
the two scores are.

Legend of shapes: U lists, H hypotheses, K corners, S counts of the metric.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quartet.nbest.metrics import Counts, CountTable
from quartet.statistics.intervals import Floats, Ints

#: A range of lambda that ends at 0 or at infinity is taken to end at its other bound divided or multiplied by this.
OPEN = 4.0
#: Points of a curve, and which share of the corners lies below its first and above its last one.
POINTS, TAIL = 41, 0.05


@dataclass(frozen=True)
class Plateau:
    """A range of lambda, 0 < low < high, over which the figure does not change."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """In natural logarithms of lambda, so that the scores' units do not count."""
        # of equal widths in other units rounding makes none the wider one
        return round(math.log(self.high) - math.log(self.low), 9)

    @property
    def weight(self) -> float:
        """The weight in its middle: that of the geometric mean of its bounds."""
        middle = math.exp(0.5 * (math.log(self.low) + math.log(self.high)))
        return middle / (1 + middle)

    @property
    def usable(self) -> bool:
        """Whether that weight, as a floating-point number, lies inside."""
        weight = self.weight
        return weight < 1 and self.low < weight / (1 - weight) < self.high


class LineSearch:
    """The figure of a set of lists as a function of the weight.

    Args:
        first_pass, lm: (H,) finite scores, flat, each list's best first by the first pass.
        table: the counts of the same lists. Lists without a reference change no figure and are left out.
    """

    def __init__(self, first_pass: Floats, lm: Floats, table: CountTable) -> None:
        self._metric = table.metric
        zero = table.offsets[:-1]  # weight 0 is the first pass itself: the first hypothesis of each list
        start, lambdas, before, after = envelopes(first_pass, lm, table.offsets)
        order = np.argsort(lambdas, kind="stable")
        changes = table.counts[after[order]] - table.counts[before[order]]
        changed = changes.any(axis=1)
        self._corners: Floats = lambdas[order][changed]
        base = table.counts[start].sum(axis=0, dtype=np.int64)
        self._first: Counts = table.counts[zero].sum(axis=0, dtype=np.int64)
        self._totals: Counts = base + np.concatenate(
            [np.zeros_like(base)[None], np.cumsum(changes[changed], axis=0)]
        )

    @cached_property
    def weight(self) -> float:
        """The best weight, from 0 to below 1.

        It is 0 where no other one is better than the first pass. Else it is in the middle, by the logarithm of lambda,
        of the widest range with the best figure; of equally wide ranges, of the one nearest to the first pass.
        """
        values = self._metric.better * self._metric.corpus(np.concatenate([self._first[None], self._totals]))
        better = [(value, each) for value, each in self._plateaus(values[1:]) if value > values[0]]
        if not better:
            return 0.0
        return min(better, key=lambda found: (-found[0], -found[1].width, found[1].low))[1].weight

    def _plateaus(self, values: Floats) -> list[tuple[float, Plateau]]:
        """Each range with one value, neighbours of the same value together, with that value.

        Args:
            values: (K + 1,) of the ranges between the corners, larger is better.
        """
        if not len(self._corners):
            return [(float(values[0]), Plateau(1 / OPEN, OPEN))]
        inner = np.flatnonzero(values[1:] != values[:-1])
        starts = np.concatenate([[0], inner + 1])
        bounds = self._corners[inner]
        lows = np.concatenate([[0.0], bounds])
        highs = np.concatenate([bounds, [np.inf]])
        found = []
        for start, low, high in zip(starts.tolist(), lows.tolist(), highs.tolist(), strict=True):
            if low == 0:
                low = min(high, float(self._corners[0])) / OPEN
            if high == np.inf:
                high = max(low, float(self._corners[-1])) * OPEN
            if low < high and (plateau := Plateau(low, high)).usable:
                found.append((float(values[start]), plateau))
        return found

    def curve_weights(self) -> Floats:
        """Weights to draw a curve at: 0, and from there on equal steps of log lambda over what the corners span.

        The best weight is among them, so that it can be marked.
        """
        corners = self._corners[self._corners < 1 / np.finfo(np.float64).eps]  # others are a weight of 1
        low, high = np.quantile(corners, [TAIL, 1 - TAIL]) if len(corners) else (1 / OPEN, OPEN)
        best = self.weight / (1 - self.weight)
        if best:
            low, high = min(low, best / OPEN), max(high, best * OPEN)
        lambdas = np.geomspace(low, high, POINTS)
        return np.unique(np.concatenate([[0.0, self.weight], lambdas / (1 + lambdas)]))


def envelopes(first_pass: Floats, lm: Floats, offsets: Ints) -> tuple[Ints, Floats, Ints, Ints]:
    """The corners of the upper envelope of each list's lines, for lambda above 0.

    Args:
        first_pass, lm: (H,) the lines' values at 0 and their slopes.
        offsets: (U + 1,) the lines of list u are offsets[u] to offsets[u + 1].

    Returns:
        (U,) the highest line of each list just above 0; and of the K corners of all lists lambda, the line that is
        highest up to it and the one that is highest from it on. The corners of a list ascend.
    """
    starts, sizes = offsets[:-1], np.diff(offsets)

    def highest(values: Floats, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of each list's lines `among` have the list's highest value; a list without any has none."""
        kept = np.where(among, values, -np.inf)
        found: NDArray[np.bool_] = among & (kept == np.repeat(np.maximum.reduceat(kept, starts), sizes))
        return found

    def first(among: NDArray[np.bool_]) -> Ints:
        """The first line of each list `among`; H for a list without any."""
        return np.minimum.reduceat(np.where(among, np.arange(len(lm)), len(lm)), starts)

    everything = np.ones(len(lm), dtype=np.bool_)
    start = current = first(highest(lm, highest(first_pass, everything)))
    reached = np.full(len(starts), np.finfo(np.float64).tiny)
    lambdas, before, after = [], [], []
    while True:
        slope = lm - np.repeat(lm[current], sizes)
        crossing = np.full(len(lm), np.inf)
        with np.errstate(over="ignore"):
            rise = np.repeat(first_pass[current], sizes) - first_pass
            np.divide(rise, slope, out=crossing, where=slope > 0)
        following = first(highest(lm, highest(-crossing, np.isfinite(crossing))))
        moved = np.flatnonzero(following < len(lm))
        if not len(moved):
            break
        # rounding may put a corner a little before the one that led to it, or at 0
        reached[moved] = np.maximum(reached[moved], crossing[following[moved]])
        lambdas.append(reached[moved])
        before.append(current[moved])
        after.append(following[moved])
        current = current.copy()
        current[moved] = following[moved]
    if not lambdas:
        nothing = np.zeros(0, dtype=np.int64)
        return start, np.zeros(0), nothing, nothing
    return start, np.concatenate(lambdas), np.concatenate(before), np.concatenate(after)
