"""Intervals: against published values, scipy, plain loops, and how often they hold the truth."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap, norm, t

from quartet.statistics import intervals
from quartet.statistics.intervals import (
    LEAST_UNITS,
    Floats,
    bootstrap_measure,
    bootstrap_measures,
    percentile_interval,
    resample_counts,
    tail,
    two_sided_p,
    weighted_median,
    wilson,
)


def mean_of(values: Floats, counts: Floats) -> Floats:
    """(block,) means of the values as drawn."""
    means: Floats = counts @ values / len(values)
    return means


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (9, 10), (10, 10), (101, 200), (1, 1)])
def test_wilson_is_scipys(successes: int, n: int) -> None:
    measure = wilson(successes, n)
    theirs = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert measure.value == successes / n
    assert measure.n == n
    assert (measure.ci_low, measure.ci_high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)


def test_counts_are_resamples_and_do_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(resample_counts(7, 1000, seed=1)))
    assert whole.shape == (1000, 7)
    assert (whole.sum(axis=1) == 7).all()
    assert whole.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)
    assert whole.var() == pytest.approx(7 * (1 / 7) * (6 / 7), abs=0.05)  # binomial
    monkeypatch.setattr(intervals, "BLOCK_CELLS", 50)
    blocks = list(resample_counts(7, 1000, seed=1, width=9))
    assert len(blocks) == 200
    assert np.array_equal(np.concatenate(blocks), whole)


def test_the_interval_of_a_mean_is_scipys() -> None:
    values = np.random.default_rng(0).exponential(size=60)
    measure = bootstrap_measure(lambda counts: counts @ values / 60, 60, 60, samples=5000, seed=1)
    level = 1 - 2 * tail(60)
    theirs = bootstrap(
        (values,), np.mean, confidence_level=level, method="percentile", n_resamples=5000, rng=2
    ).confidence_interval
    assert measure.value == pytest.approx(values.mean())
    assert (measure.ci_low, measure.ci_high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_the_interval_holds_the_truth_about_95_times_in_100() -> None:
    generator = np.random.default_rng(5)
    held = 0
    for trial in range(300):
        values = generator.normal(size=80)
        measure = bootstrap_measure(partial(mean_of, values), 80, 80, 400, seed=trial)
        assert measure.ci_low is not None
        assert measure.ci_high is not None
        held += measure.ci_low <= 0 <= measure.ci_high
    assert 0.90 <= held / 300 <= 0.98


def test_several_statistics_share_their_resamples() -> None:
    values = np.arange(20.0)

    mean = partial(mean_of, values)

    both = bootstrap_measures({"a": (mean, 20), "b": (lambda counts: 2 * mean(counts), 5)}, 20, 300, seed=3)
    assert both["a"] == bootstrap_measure(mean, 20, 20, 300, seed=3)
    assert both["b"].n == 5
    assert both["a"].ci_low is not None
    assert both["b"].ci_low == pytest.approx(2 * both["a"].ci_low)


def test_the_interval_of_normal_means_is_students() -> None:
    """Of resampled means of n units whose squared deviations sum to n: the unbiased variance is n / (n - 1)."""
    for n in (10, 20, 100):
        replicates = norm.ppf((np.arange(200_000) + 0.5) / 200_000) / np.sqrt(n)
        low, high = percentile_interval(replicates, n)
        half = t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)) / np.sqrt(n)
        assert (low, high) == pytest.approx((-half, half), rel=1e-3)
    assert tail(10**6) == pytest.approx(0.025, rel=1e-4)


def test_few_units_units_that_do_not_differ_and_a_mostly_undefined_statistic_have_no_interval() -> None:
    values = np.arange(10.0)
    for units, given in ((LEAST_UNITS - 1, False), (LEAST_UNITS, True)):
        measure = bootstrap_measure(partial(mean_of, values[:units]), units, units, 100, seed=0)
        assert measure.value == values[:units].mean()
        assert (measure.ci_low is not None) == (measure.ci_high is not None) == given
    assert bootstrap_measure(partial(mean_of, np.full(50, 0.1)), 50, 50, 100, seed=0).ci_low is None
    assert percentile_interval(np.array([1.0, np.nan, np.nan]), 50) == (None, None)
    assert percentile_interval(np.array([1.0, 1.0, np.nan]), 50) == (None, None)
    assert percentile_interval(np.array([1.0, 2.0, np.nan]), 10**9) == pytest.approx((1.025, 1.975))


def test_p_values() -> None:
    assert two_sided_p(-1.0 - np.arange(99) / 99, 10**9) == pytest.approx(2 / 100)
    assert two_sided_p(np.zeros(99), 50) == 1.0
    assert two_sided_p(np.full(99, -1.0), 50) is None  # as it has no interval: the units do not differ
    assert two_sided_p(np.array([1.0] * 97 + [-1.0] * 2), 10**9) == pytest.approx(2 * 1.5 / 98)
    assert two_sided_p(np.array([1.0, -1.0]), 50) == 1.0
    assert two_sided_p(np.arange(-99.0, 0.0), LEAST_UNITS - 1) is None
    assert two_sided_p(np.array([np.nan] * 60 + [1.0, 2.0]), 50) is None
    assert two_sided_p(np.array([1.0, 2.0, 3.0, np.nan]), 50) == two_sided_p(np.array([1.0, 2.0, 3.0]), 50)


def agree(replicates: Floats, units: int) -> bool:
    """Whether the interval leaves out 0 exactly where p is below 0.05."""
    low, high = percentile_interval(replicates, units)
    p = two_sided_p(replicates, units)
    if low is None or high is None:
        return p in (None, 1.0)
    assert p is not None
    return (p < 0.05) == (not low <= 0 <= high)


@pytest.mark.parametrize("size", [120, 999, 1000, 10_000])
@pytest.mark.parametrize("units", [10, 37, 1000])
def test_p_is_below_five_percent_exactly_where_the_interval_leaves_out_0(units: int, size: int) -> None:
    """At the edge: an end of the interval beside 0, on it and beyond it, with ties and without."""
    generator = np.random.default_rng(units)
    for trial in range(20):
        drawn = generator.normal(1.0, 0.5, size) if trial % 2 else generator.integers(0, 60, size) / 7
        low, high = percentile_interval(drawn, units)
        assert low is not None and high is not None
        seen = set()
        for end in (low, high):
            for beside in (0.0, 1e-9, -1e-9, 1e-3, -1e-3):
                assert agree(drawn - end + beside, units), (trial, end, beside)
                seen.add(two_sided_p(drawn - end + beside, units) < 0.05)  # type: ignore[operator]
        assert seen == {True, False}


def test_p_and_the_interval_agree_on_drawn_sets() -> None:
    generator = np.random.default_rng(11)
    shown = 0
    for trial in range(400):
        units = int(generator.integers(10, 60))
        values = generator.integers(-3, 4, units) + generator.choice([0.0, 0.6])
        replicates = np.concatenate([mean_of(values, c) for c in resample_counts(units, 300, trial)])
        assert agree(replicates, units)
        shown += two_sided_p(replicates, units) < 0.05  # type: ignore[operator]
    assert 30 < shown < 250


@pytest.mark.parametrize("units", [10, 30, 1000])
def test_p_is_the_level_whose_interval_ends_at_zero(units: int) -> None:
    replicates = np.random.default_rng(3).normal(1.0, 0.5, 100_001)
    p = two_sided_p(replicates, units)
    assert p is not None
    low, _ = percentile_interval(replicates, units, 1 - p)
    assert low == pytest.approx(0.0, abs=2e-3)


def test_the_weighted_median_is_the_median_of_the_repeated_values() -> None:
    generator = np.random.default_rng(1)
    values = generator.integers(0, 6, 9).astype(float)
    counts = generator.integers(0, 4, (200, 9)).astype(float)
    counts[0] = 0
    found = weighted_median(values, counts)
    assert np.isnan(found[0])
    for row, median in zip(counts[1:], found[1:], strict=True):
        assert median == np.median(np.repeat(values, row.astype(int)))
