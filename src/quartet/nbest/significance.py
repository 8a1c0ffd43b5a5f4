"""How sure a figure of a choice, and a difference between two, is: a bootstrap over utterances.

Utterances are resampled because they are what a test set is a sample of: words within one are recognised
together, and so are their errors. A resample's figure is made of its summed counts, as the corpus figure is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quartet.nbest.metrics import REFERENCE, Counts, Metric
from quartet.nbest.rerank import Selection
from quartet.results import Measure
from quartet.statistics.intervals import (
    LEAST_UNITS,
    LEVEL,
    Floats,
    Statistic,
    bootstrap_measure,
    bootstrap_replicates,
    percentile_interval,
    two_sided_p,
)

#: How often a true difference of the smallest detectable size would be found.
POWER = 0.8


@dataclass(frozen=True)
class PairedComparison:
    """System minus baseline on the same utterances.

    Attributes:
        difference: of the corpus figures, with a 95 % interval.
        p_value: two-sided; 1 where the two never differ. None of too few utterances, which have no interval either.
        detectable: the smallest true difference that a test of these utterances would find 4 times in 5, at
            the level of 5 %, if the two differ from utterance to utterance as much as here: (1.96 + 0.84, of few
            utterances Student's t) standard errors of the difference. None of too few utterances.
    """

    difference: Measure
    p_value: float | None
    detectable: float | None


def measure(selection: Selection, samples: int, seed: int) -> Measure:
    """The corpus figure with a 95 % interval; n counts the utterances that have a reference.

    Raises:
        ValueError: no utterance has a reference.
    """
    n = len(selection.counts)
    if n == 0:
        raise ValueError("no utterance has a reference")
    return bootstrap_measure(_figure(selection.metric, selection.counts), n, n, samples, seed)


def paired_bootstrap(system: Selection, baseline: Selection, samples: int, seed: int) -> PairedComparison:
    """Compare two choices on the same utterances; each resample draws the same ones for both.

    Raises:
        ValueError: the two are not of the same references or not of one metric, or there is none.
    """
    same = np.array_equal(system.counts[:, REFERENCE], baseline.counts[:, REFERENCE])
    if not same or system.metric != baseline.metric:
        raise ValueError("the two choices are not of the same utterances and metric")
    from scipy.special import stdtrit

    n = len(system.counts)
    if n == 0:
        raise ValueError("no utterance has a reference")
    ours, theirs = (_figure(system.metric, each.counts) for each in (system, baseline))

    def difference(draws: Floats) -> Floats:
        return ours(draws) - theirs(draws)

    value = float(difference(np.ones((1, n)))[0])
    replicates = bootstrap_replicates(difference, n, samples, seed)
    low, high = percentile_interval(replicates, n)
    detectable = None
    if n >= LEAST_UNITS:
        errors = stdtrit(n - 1, (1 + LEVEL) / 2) + stdtrit(n - 1, POWER)
        detectable = float(errors * np.std(replicates) * math.sqrt(n / (n - 1)))
    return PairedComparison(Measure(value, n, low, high), two_sided_p(replicates, n), detectable)


def _figure(metric: Metric, counts: Counts) -> Statistic:
    """The figure of each resample: of the sums of counts (R, S) weighed by how often each row was drawn."""
    columns = counts.astype(np.float64)

    def statistic(draws: Floats) -> Floats:
        return metric.corpus(draws @ columns)

    return statistic
