"""How sure a figure of a choice, and a difference between two, is: a bootstrap over utterances, or over speakers.

Never over words: those of an utterance are recognised together, and so are their errors; so are the utterances of a
speaker. A resample's figure is made of its summed counts, as the corpus figure is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quartet.nbest.metrics import REFERENCE
from quartet.nbest.rerank import Selection
from quartet.results import Measure
from quartet.statistics.differences import paired_difference
from quartet.statistics.intervals import LEVEL, Floats, Statistic, bootstrap_measure

#: How often a true difference of the smallest detectable size would be found.
POWER = 0.8


def measure(selection: Selection, samples: int, seed: int) -> Measure:
    """The corpus figure with a 95 % interval; n counts the utterances that have a reference.

    Raises:
        ValueError: no utterance has a reference.
    """
    n, units = len(selection.counts), selection.units
    if n == 0:
        raise ValueError("no utterance has a reference")
    return bootstrap_measure(_figure(selection), units.count, n, samples, seed, units.name)


def paired_bootstrap(
    system: Selection | Sequence[Selection],
    baseline: Selection | Sequence[Selection],
    samples: int,
    seed: int,
) -> Measure:
    """System minus baseline with its interval and p; each resample draws the same utterances for both.

    Args:
        system, baseline: a choice, or one for each training.

    Raises:
        ValueError: the two are not of the same references or not of one metric, or there is none.
    """
    ours, theirs = ([each] if isinstance(each, Selection) else list(each) for each in (system, baseline))
    first = ours[0]
    for each in (*ours, *theirs):
        same = np.array_equal(each.counts[:, REFERENCE], first.counts[:, REFERENCE])
        same &= np.array_equal(each.units.of_R, first.units.of_R)
        if not same or each.metric != first.metric:
            raise ValueError("the two choices are not of the same utterances and metric")
    n = len(first.counts)
    if n == 0:
        raise ValueError("no utterance has a reference")
    figures = [[_figure(one) for one in each] for each in (ours, theirs)]
    units = first.units
    return paired_difference(
        figures[0], figures[1], units.count, n=n, unit=units.name, samples=samples, seed=seed
    )


def detectable(difference: Measure) -> float | None:
    """The smallest true difference that a test of these units would find 4 times in 5, at the level of 5 %.

    It is of two systems that differ from unit to unit as much as these: (1.96 + 0.84, of few units Student's t)
    standard errors of the difference, half of whose interval is 1.96 of them. None where it has no interval.
    """
    from scipy.special import stdtrit

    low, high, units = difference.ci_low, difference.ci_high, difference.units
    if low is None or high is None or units is None:
        return None
    ends, power = stdtrit(units - 1, [(1 + LEVEL) / 2, POWER])
    return float((high - low) / 2 * (1 + power / ends))


def _figure(selection: Selection) -> Statistic:
    """The figure of each resample: of the sums of counts (units, S) weighed by how often each unit was drawn."""
    sums = np.zeros((selection.units.count, selection.counts.shape[1]))
    np.add.at(sums, selection.units.of_R, selection.counts)

    def statistic(draws: Floats) -> Floats:
        return selection.metric.corpus(draws @ sums)

    return statistic
