"""The difference between two systems on the same units, and many differences at once.

Both systems are measured on the same resamples: most of the spread of a figure is the test set's, common to both, so
the interval of the difference is many times as narrow as either's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quartet.results import Measure
from quartet.statistics import intervals
from quartet.statistics.intervals import Floats, Statistic, percentile_interval, two_sided_p, with_bounds


def paired_difference(
    ours: Sequence[Statistic],
    theirs: Sequence[Statistic],
    units: int,
    *,
    n: int,
    unit: str,
    samples: int,
    seed: int,
    width: int = 0,
) -> Measure:
    """Ours minus theirs with its 95 % interval and p; the mean over trainings where there are several.

    Units are resampled, the same for both and for all trainings. Where there are several trainings, a draw of how far
    their mean is from the mean over all trainings is added to each replicate (:func:`spread_of_trainings`). Fewer than
    :data:`quartet.statistics.intervals.LEAST_DRAWS` resamples give the value alone.

    Args:
        ours, theirs: a statistic for each training (counts (block, units) -> values (block,)), in the order of the
            seeds; a single one of what has no seeds. Training i of the one stands beside training i of the other.
        units: how many units are resampled.
        n: the number of items behind the value.
        unit: what the units are, e.g. "documents".
        samples: the number of resamples.
        seed: of their generator.
        width: see :func:`quartet.statistics.intervals.resample_counts`.

    Raises:
        ValueError: the two have other numbers of trainings, none of them a single one.

    >>> right = np.array([[1.0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0], [0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0]])
    >>> first, second = ([lambda counts, row=row: counts @ row / 12] for row in right)
    >>> found = paired_difference(first, second, 12, n=12, unit="texts", samples=10_000, seed=1)
    >>> round(found.value, 3), found.units, found.unit, found.p < 0.05
    (0.417, 12, 'texts', True)
    """

    def figures(counts: Floats) -> Floats:
        return np.stack([statistic(counts) for statistic in (*ours, *theirs)])

    found = replicates_of(figures, units, samples, seed, width)
    return difference_of(found[: len(ours)], found[len(ours) :], units, n=n, unit=unit, seed=seed)


def replicates_of(figures: Statistic, units: int, samples: int, seed: int, width: int = 0) -> Floats:
    """(S, 1 + samples) S figures of the data, then of the same resamples; of the data alone if these are too few.

    Args:
        figures: counts (block, units) -> (S, block).
        units, samples, seed, width: see :func:`paired_difference`.
    """
    blocks = [figures(np.ones((1, units)))]
    if units >= intervals.LEAST_UNITS and samples >= intervals.LEAST_DRAWS:
        blocks += map(figures, intervals.resample_counts(units, samples, seed, width))
    return np.concatenate(blocks, axis=1)


def difference_of(ours: Floats, theirs: Floats, units: int, *, n: int, unit: str, seed: int) -> Measure:
    """See :func:`paired_difference`; ours and theirs are what :func:`replicates_of` made of the same resamples."""
    trainings = max(len(ours), len(theirs))
    if not {len(ours), len(theirs)} <= {1, trainings}:
        raise ValueError(f"{len(ours)} trainings minus {len(theirs)}")
    differences = ours - theirs
    value, replicates = float(differences[:, 0].mean()), differences[:, 1:].mean(axis=0)
    if not len(replicates):
        return Measure(value, n)
    replicates += spread_of_trainings(differences[:, 0], len(replicates), seed)
    found = with_bounds(value, n, percentile_interval(replicates, units), units, unit)
    return dataclasses.replace(found, p=two_sided_p(replicates, units))


def spread_of_trainings(of_trainings: Floats, samples: int, seed: int) -> Floats:
    """(samples,) draws of how far the mean of S trainings (S,) may be from the mean over all; 0 of a single one.

    Three trainings resampled could not show how much trainings differ. So it is their standard deviation over sqrt(S)
    times draws of Student's t with S - 1 degrees of freedom: where only trainings differ, the interval is that of a
    t-test.
    """
    trainings = len(of_trainings)
    if trainings == 1:
        return np.zeros(samples)
    draws = np.random.default_rng([seed, trainings]).standard_t(trainings - 1, samples)
    scaled: Floats = draws * (of_trainings.std(ddof=1) / np.sqrt(trainings))
    return scaled


def holm(p_values: Sequence[float]) -> list[float]:
    """The p of a family of comparisons, corrected for their number (Holm 1979): in the order given.

    The chance that any true null hypothesis of the family has a corrected p below 0.05 is at most 5 %.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order: NDArray[np.intp] = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p_values)[order]))
    return [float(p) for p in corrected]
