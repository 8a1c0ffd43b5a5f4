"""Paired differences: against plain loops, hand-made outcomes, a t-test, and how often they are called shown."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from quartet.statistics import intervals
from quartet.statistics.differences import holm, paired_difference
from quartet.statistics.intervals import Floats, Statistic, bootstrap_measure, ratio, tail

DRAWS = intervals.LEAST_DRAWS


def mean_of(values: Floats) -> Statistic:
    """The mean of per-unit outcomes (units,)."""
    return partial(ratio, above=values, below=np.ones(len(values)))


def test_what_both_share_is_not_in_the_interval() -> None:
    """Both intervals overlap, and every unit is better by about a tenth."""
    generator = np.random.default_rng(0)
    hard = generator.normal(0, 5, 80)
    ours, theirs = hard + 0.1 + generator.normal(0, 0.05, 80), hard
    found = paired_difference(
        [mean_of(ours)], [mean_of(theirs)], 80, n=160, unit="texts", samples=DRAWS, seed=1
    )
    assert (found.n, found.units, found.unit) == (160, 80, "texts")
    assert found.value == pytest.approx((ours - theirs).mean())
    means = (ours - theirs)[np.random.default_rng(5).integers(0, 80, (DRAWS, 80))].mean(axis=1)
    ends = np.quantile(means, [tail(80), 1 - tail(80)])
    assert (found.ci_low, found.ci_high) == pytest.approx(ends, abs=1e-3)
    assert found.p is not None and found.p < 0.001
    levels = [bootstrap_measure(mean_of(each), 80, 80, 1000, 1) for each in (ours, theirs)]
    assert levels[0].ci_low < levels[1].ci_high, "the levels' own intervals overlap"  # type: ignore[operator]


def test_few_resamples_and_few_units_give_the_value_alone() -> None:
    outcomes = np.random.default_rng(1).normal(3, 1, 40)
    for units, samples in ((9, DRAWS), (40, DRAWS - 1)):
        found = paired_difference(
            [mean_of(outcomes[:units])],
            [mean_of(np.zeros(units))],
            units,
            n=units,
            unit="texts",
            samples=samples,
            seed=1,
        )
        assert found.value == pytest.approx(outcomes[:units].mean())
        assert (found.ci_low, found.p, found.units, found.unit) == (None, None, None, "")


def test_where_only_trainings_differ_it_is_a_t_test() -> None:
    shifts = np.array([0.3, 0.5, 0.9])
    common = np.random.default_rng(2).normal(0, 1, 50)
    ours = [mean_of(common + shift) for shift in shifts]
    found = paired_difference(ours, [mean_of(common)], 50, n=50, unit="texts", samples=200_000, seed=1)
    test = ttest_1samp(shifts, 0)
    # Student's 2.01 for 1.96 of the 50 units comes on top
    low, high = test.confidence_interval(1 - 2 * tail(50))
    assert found.value == pytest.approx(shifts.mean())
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), rel=0.05)


def test_trainings_stand_beside_those_of_their_seed() -> None:
    generator = np.random.default_rng(3)
    ours, theirs = generator.normal(0, 1, (2, 3, 30))
    found = paired_difference(
        [mean_of(each) for each in ours],
        [mean_of(each) for each in theirs + 0.01],
        30,
        n=30,
        unit="texts",
        samples=DRAWS,
        seed=1,
    )
    assert found.value == pytest.approx((ours - theirs).mean() - 0.01)
    with pytest.raises(ValueError, match="3 trainings minus 2"):
        paired_difference(
            [mean_of(ours[0])] * 3, [mean_of(ours[0])] * 2, 30, n=30, unit="", samples=9, seed=1
        )


@pytest.mark.parametrize(("trainings", "spread"), [(1, 0.0), (3, 0.0), (3, 1.0), (2, 2.0), (5, 3.0)])
def test_a_difference_that_is_none_is_called_shown_once_in_twenty(
    trainings: int, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`spread`: the standard deviation over trainings, in standard errors over the units."""
    monkeypatch.setattr(intervals, "LEAST_DRAWS", 500)
    generator, units, trials = np.random.default_rng(trainings), 40, 400
    shown = 0
    for trial in range(trials):
        common = generator.normal(0, 1, units)
        shifts = spread / units**0.5 * generator.normal(0, 1, trainings)
        ours = [mean_of(common + shift + generator.normal(0, 0.3, units)) for shift in shifts]
        found = paired_difference(
            ours, [mean_of(np.zeros(units))], units, n=units, unit="", samples=500, seed=trial
        )
        assert found.p is not None
        shown += found.p < 0.05
    assert shown / trials < 0.08


def test_holm_is_that_of_the_paper() -> None:
    assert holm([]) == []
    assert holm([0.04]) == [0.04]
    # by hand: 0.01 * 4, 0.02 * 3, 0.022 * 2 raised to the one before, 0.5 * 1
    assert holm([0.02, 0.5, 0.01, 0.022]) == pytest.approx([0.06, 0.5, 0.04, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
