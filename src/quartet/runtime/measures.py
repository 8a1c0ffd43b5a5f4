"""What repeated timings say: a median and a spread, how many times as long another way takes, and how time grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quartet.results import Measure
from quartet.runtime.clock import Seconds
from quartet.statistics.intervals import LEVEL, Floats, bootstrap_measure, weighted_median


def median_interval(values: np.ndarray) -> Measure:
    """The median with an interval of at least 95 % from the order statistics; none for fewer than 6 values."""
    from scipy.stats import binom

    ordered = np.sort(values)
    low = int(binom.ppf((1 - LEVEL) / 2, len(ordered), 0.5)) - 1
    if low < 0:
        return Measure(float(np.median(ordered)), len(ordered))
    return Measure(float(np.median(ordered)), len(ordered), float(ordered[low]), float(ordered[-1 - low]))


def quartile_range(values: np.ndarray) -> Measure:
    """The third quartile minus the first, without an interval: it is a spread itself."""
    from scipy.stats import iqr

    return Measure(float(iqr(values)), len(values))


def times_as_long(ours: Seconds, base: Seconds, samples: int, seed: int) -> Measure:
    """The ratio of two medians, with a bootstrap interval over the rounds in which both were timed.

    Args:
        ours, base: (rounds,) seconds, index by index of one round.
        samples: resamples of the bootstrap.
        seed: of its generator.
    """
    assert ours.shape == base.shape, "both were timed in the same rounds"

    def ratio(counts: Floats) -> Floats:
        return weighted_median(ours, counts) / weighted_median(base, counts)

    return bootstrap_measure(ratio, units=len(ours), n=len(ours), samples=samples, seed=seed)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> Measure:
    """The b of time = a · size^b, by least squares on the logarithms.

    The 95 % interval is the slope's (Student's t), so it holds both the noise of the timings and how far the points
    are from any power law. Two points have none.

    Args:
        sizes, times: one of each a point, above 0.

    Raises:
        ValueError: there are fewer than two sizes.
    """
    from scipy.stats import linregress, t

    if len(set(sizes)) < 2:
        raise ValueError("growth needs two sizes")
    fit = linregress(np.log(sizes), np.log(times))
    n = len(sizes)
    if n < 3:
        return Measure(float(fit.slope), n)
    half = float(t.ppf((1 + LEVEL) / 2, n - 2) * fit.stderr)
    return Measure(float(fit.slope), n, float(fit.slope) - half, float(fit.slope) + half)
