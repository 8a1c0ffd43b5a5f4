"""Intervals: the bootstrap of whatever can be computed from how often each unit was drawn, and Wilson's.

How an interval is made from a sample of units is decided here, for documents, utterances, pairs and all others alike
(:func:`percentile_interval`). docs/intervals.md has how often each holds the truth, by simulation.

A bootstrap draws n units with replacement from n. Which unit to draw is each measure's own decision: the one
that the test set is a sample of (utterances, documents), never a part of it (words, pairs that share a
document). A statistic gets the draws as counts, a (block, n) array of how often each unit was drawn, and
gives (block,) values; a row of ones is the data themselves. Counts turn most statistics into one matrix
product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quartet.results import Measure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statistic = Callable[[Floats], Floats]

LEVEL, SIGNIFICANCE = 0.95, 0.05
#: The fewest units that an interval, or a p-value, is made from. Of fewer it holds the truth too seldom.
LEAST_UNITS = 10
#: The fewest resamples that a difference between two systems has its interval and its p from: fewer could not tell 0.04
#: from 0.05 (the standard error of a p of 0.05 is 0.003 from 10,000 and 0.01 from 1,000).
LEAST_DRAWS = 10_000
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


def tail(units: int, level: float = LEVEL) -> float:
    """The share of the replicates that lies beyond each end of an interval.

    The replicates of n units spread by sqrt((n - 1) / n) of the statistic's standard error, and that is itself an
    estimate. So the ends are where Student's t of n - 1 degrees of freedom, times sqrt(n / (n - 1)), has its ends on a
    normal curve (the "expanded percentile interval": Hesterberg 2015, The American Statistician 69, Section 4.1.1). Of
    many units it is the usual 2.5 %.

    >>> round(tail(10), 4), round(tail(1000), 4)
    (0.0086, 0.0248)
    """
    from scipy.special import stdtrit

    bound = float(stdtrit(units - 1, (1 + level) / 2)) * math.sqrt(units / (units - 1))
    return NormalDist().cdf(-bound)


def percentile_interval(
    replicates: Floats, units: int, level: float = LEVEL
) -> tuple[float | None, float | None]:
    """The interval between the replicates of which :func:`tail` lies beyond each end.

    None is given of fewer than :data:`LEAST_UNITS` units, and where all replicates are equal: units that do not differ
    do not tell how much others would. Undefined replicates (a resample in which all is equal has no correlation) are
    left out; where they are more than half, no interval is given.

    Args:
        units: how many units were drawn from.
    """
    defined = replicates[np.isfinite(replicates)]
    if units < LEAST_UNITS or 2 * len(defined) < len(replicates) or not len(defined):
        return None, None
    beyond = tail(units, level)
    low, high = np.quantile(defined, [beyond, 1 - beyond])
    if (
        np.ptp(defined) <= 1e-12 * np.abs(defined).max()
    ):  # rounding makes sums of equal values differ by about 1e-15
        return None, None
    return float(low), float(high)


def bootstrap_measures(
    statistics: Mapping[str, tuple[Statistic, int]],
    units: int,
    samples: int,
    seed: int,
    width: int = 0,
    unit: str = "",
) -> dict[str, Measure]:
    """Each statistic of the data with its 95 % interval (:func:`percentile_interval`), all from the same resamples.

    Args:
        statistics: by name, the statistic (counts (block, units) -> values (block,)) and the number of items
            that its measure reports as n.
        units: how many units are resampled; too few have no interval.
        samples: the number of resamples.
        seed: of their generator.
        width: see `resample_counts`.
        unit: what the units are, e.g. "documents".

    Raises:
        ValueError: a statistic is not finite on the data.
    """
    values = {name: float(one(np.ones((1, units)))[0]) for name, (one, _) in statistics.items()}
    if units < LEAST_UNITS:
        return {name: Measure(values[name], n) for name, (_, n) in statistics.items()}
    replicates: dict[str, list[Floats]] = {name: [] for name in statistics}
    for counts in resample_counts(units, samples, seed, width):
        for name, (one, _) in statistics.items():
            replicates[name].append(one(counts))
    return {
        name: with_bounds(
            values[name], n, percentile_interval(np.concatenate(replicates[name]), units), units, unit
        )
        for name, (_, n) in statistics.items()
    }


def with_bounds(
    value: float, n: int, bounds: tuple[float | None, float | None], units: int, unit: str
) -> Measure:
    """A value with its interval, and what was resampled for it where there is one."""
    low, high = bounds
    return Measure(value, n) if low is None else Measure(value, n, low, high, units, unit)


def bootstrap_measure(
    statistic: Statistic, units: int, n: int, samples: int, seed: int, unit: str = ""
) -> Measure:
    """One statistic with its 95 % interval; see `bootstrap_measures`."""
    return bootstrap_measures({"": (statistic, n)}, units, samples, seed, unit=unit)[""]


def bootstrap_ratio(
    above: NDArray[Any], below: NDArray[Any], n: int, samples: int, seed: int, unit: str = ""
) -> Measure:
    """The ratio of two sums over the same units (units,) with its 95 % interval; see `bootstrap_measures`."""
    return bootstrap_measure(partial(ratio, above=above, below=below), len(below), n, samples, seed, unit)


def ratio(counts: Floats, above: NDArray[Any], below: NDArray[Any]) -> Floats:
    """(block,) ratios of two sums over the units drawn; above and below (units,)."""
    ratios: Floats = counts @ above / (counts @ below)
    return ratios


def two_sided_p(replicates: Floats, units: int) -> float | None:
    """The two-sided p of a difference: 1 less the level whose :func:`percentile_interval` ends at zero.

    So it is below 0.05 exactly where the 95 % interval leaves out 0. It is never 0: at least 1 / (B + 1) of B
    replicates are taken to lie beyond zero. 1 where no replicate differs from 0; None where there is no interval for
    another reason.
    """
    from scipy.special import stdtr

    low, high = percentile_interval(replicates, units)
    defined = np.sort(replicates[np.isfinite(replicates)])
    if low is None or high is None:
        return 1.0 if units >= LEAST_UNITS and len(defined) and not defined.any() else None
    beyond = min(_share_to_zero(defined), _share_to_zero(-defined[::-1]))
    if beyond >= 0.5:
        return 1.0
    bound = NormalDist().inv_cdf(max(beyond, 1 / (len(defined) + 1))) * math.sqrt((units - 1) / units)
    p = 2 * float(stdtr(units - 1, bound))
    # an end beside zero by a rounding error is on one side of it, and so is p
    return max(p, SIGNIFICANCE) if low <= 0 <= high else min(p, math.nextafter(SIGNIFICANCE, 0))


def _share_to_zero(ordered: Floats) -> float:
    """The largest share whose quantile, interpolated as numpy's default does, is not above 0."""
    up_to = int(np.searchsorted(ordered, 0.0, side="right"))
    if up_to in (0, len(ordered)):
        return up_to / len(ordered)
    before, after = ordered[up_to - 1], ordered[up_to]
    return float(up_to - 1 - before / (after - before)) / (len(ordered) - 1)


def wilson(successes: int, n: int) -> Measure:
    """A proportion with Wilson's score interval, which stays inside [0, 1] and is sound for small n.

    It takes the n outcomes as independent.

    Raises:
        ValueError: n is 0 or successes is not within 0..n.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} successes of {n}")
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
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
