"""Intervals: the bootstrap of whatever can be computed from how often each unit was drawn, and Wilson's.

A bootstrap draws n units with replacement from n. Which unit to draw is each measure's own decision: the one
that the test set is a sample of (utterances, documents), never a part of it (words, pairs that share a
document). A statistic gets the draws as counts, a (block, n) array of how often each unit was drawn, and
gives (block,) values; a row of ones is the data themselves. Counts turn most statistics into one matrix
product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quartet.results import Measure

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

LEVEL = 0.95
BLOCK_CELLS = 1_000_000  # numbers a block of resamples may hold at once; the draws do not depend on it


def resample_counts(n: int, samples: int, seed: int, width: int = 0) -> Iterator[Floats]:
    """Yield blocks (block, n) of counts, `samples` rows in all, each row summing to n.

    `width` is how many numbers the statistic makes of one row where that is more than n; it bounds the block.
    """
    assert min(n, samples) > 0, (n, samples)
    generator = np.random.default_rng(seed)
    block = max(1, BLOCK_CELLS // max(n, width))
    for start in range(0, samples, block):
        rows = min(block, samples - start)
        drawn = generator.integers(0, n, size=(rows, n), dtype=np.int32) + n * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * n)
        yield counts.reshape(rows, n).astype(np.float64)


def bootstrap_replicates(statistic: Statistic, units: int, samples: int, seed: int) -> Floats:
    """(samples,) values of the statistic over resamples; NaN where a resample leaves it undefined."""
    return np.concatenate([statistic(counts) for counts in resample_counts(units, samples, seed)])


def percentile_interval(replicates: Floats, level: float = LEVEL) -> tuple[float | None, float | None]:
    """The interval that holds the middle `level` of the replicates.

    Undefined replicates (a resample in which all is equal has no correlation) are left out; where they are
    more than half, no interval is given.
    """
    defined = replicates[np.isfinite(replicates)]
    if 2 * len(defined) < len(replicates) or not len(defined):
        return None, None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_measures(
    statistics: Mapping[str, tuple[Statistic, int]], units: int, samples: int, seed: int, width: int = 0
) -> dict[str, Measure]:
    """Each statistic of the data with its 95 % percentile interval, all from the same resamples.

    Args:
        statistics: by name, the statistic (counts (block, units) -> values (block,)) and the number of items
            that its measure reports as n.
        units: how many units are resampled. A single one has no spread: no interval is given.
        samples: the number of resamples.
        seed: of their generator.
        width: see `resample_counts`.

    Raises:
        ValueError: a statistic is not finite on the data.
    """
    values = {name: float(one(np.ones((1, units)))[0]) for name, (one, _) in statistics.items()}
    if units < 2:
        return {name: Measure(values[name], n) for name, (_, n) in statistics.items()}
    replicates: dict[str, list[Floats]] = {name: [] for name in statistics}
    for counts in resample_counts(units, samples, seed, width):
        for name, (one, _) in statistics.items():
            replicates[name].append(one(counts))
    measures = {}
    for name, (_, n) in statistics.items():
        low, high = percentile_interval(np.concatenate(replicates[name]))
        measures[name] = Measure(values[name], n, low, high)
    return measures


def bootstrap_measure(statistic: Statistic, units: int, n: int, samples: int, seed: int) -> Measure:
    """One statistic with its 95 % percentile interval; see `bootstrap_measures`."""
    return bootstrap_measures({"": (statistic, n)}, units, samples, seed)[""]


def two_sided_p(replicates: Floats) -> float:
    """The two-sided bootstrap p-value of a difference: twice the smaller share on or beyond zero.

    One is added above and below, so that the smallest possible value is 2 / (samples + 1), never 0.
    """
    samples = len(replicates)
    at_most = (1 + int((replicates <= 0).sum())) / (samples + 1)
    at_least = (1 + int((replicates >= 0).sum())) / (samples + 1)
    return min(1.0, 2 * min(at_most, at_least))


def wilson(successes: int, n: int, level: float = LEVEL) -> Measure:
    """A proportion with Wilson's score interval, which stays inside [0, 1] and is sound for small n.

    It takes the n outcomes as independent.

    Raises:
        ValueError: n is 0 or successes is not within 0..n.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} successes of {n}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Measure(share, n, max(0.0, centre - half), min(1.0, centre + half))


def weighted_median(values: Floats, counts: Floats) -> Floats:
    """(block,) medians of values (n,) that occur counts (block, n) times.

    Of an even number it is the mean of the middle two; a row without any count gives NaN.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    reached = np.cumsum(counts[:, order], axis=1)
    total = reached[:, -1:]
    # the k-th smallest (from 0) is the first whose cumulative count is above k
    lower = np.argmax(reached > np.floor((total - 1) / 2), axis=1)
    upper = np.argmax(reached > np.floor(total / 2), axis=1)
    return np.where(total[:, 0] > 0, (ordered[lower] + ordered[upper]) / 2, np.nan)
