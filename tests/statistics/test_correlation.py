"""Correlations: scipy's values, with counts as repetition, and intervals that respect shared members."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata, spearmanr

from quartet.statistics.correlation import (
    correlations,
    cosines,
    part_correlations,
    weighted_pearson,
    weighted_ranks,
)
from quartet.statistics.intervals import tail


def pairs_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(n, k=1)
    return first, second


@pytest.mark.parametrize("rounded", [False, True])
def test_values_are_scipys_with_and_without_ties(rounded: bool) -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=200)
    y = x + generator.normal(size=200)
    if rounded:
        x, y = np.round(x), np.round(y)
    found = correlations(x, y, samples=50, seed=0)
    assert found["pearson"].value == pytest.approx(pearsonr(x, y).statistic, abs=1e-12)
    assert found["spearman"].value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert found["pearson"].n == found["spearman"].n == 200


def test_weights_are_repetitions() -> None:
    generator = np.random.default_rng(3)
    x, y = np.round(generator.normal(size=(2, 30)), 1)
    counts = generator.integers(0, 4, (20, 30)).astype(float)
    ranks_x, ranks_y = weighted_ranks(x, counts), weighted_ranks(y, counts)
    pearson, spearman = weighted_pearson(x, y, counts), weighted_pearson(ranks_x, ranks_y, counts)
    for row in range(20):
        times = counts[row].astype(int)
        long_x, long_y = np.repeat(x, times), np.repeat(y, times)
        assert np.repeat(ranks_x[row], times) == pytest.approx(rankdata(long_x))
        assert pearson[row] == pytest.approx(pearsonr(long_x, long_y).statistic)
        assert spearman[row] == pytest.approx(spearmanr(long_x, long_y).statistic)


def test_a_constant_resample_is_undefined_not_a_number() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.1, 0.2])
    counts = np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert np.isnan(weighted_pearson(x, y, counts)).tolist() == [True, True, False]
    same = np.full(3, 0.1)
    assert np.isnan(weighted_pearson(same, y, counts)).all()


def test_rounding_does_not_make_a_correlation_of_a_constant_resample() -> None:
    generator = np.random.default_rng(6)
    x, y = np.array([0.1] * 6 + [0.7]), generator.normal(size=7)
    counts = generator.integers(0, 4, (300, 7)).astype(float)
    counts[:, 6] = 0  # the only different value is never drawn
    assert np.isnan(weighted_pearson(x, y, counts)).all()


def test_shared_members_are_resampled_as_a_loop_over_members_does() -> None:
    generator = np.random.default_rng(4)
    first, second = pairs_of(12)
    effect = generator.normal(size=12)  # one odd text moves all of its pairs
    x = effect[first] + effect[second] + generator.normal(size=66)
    y = generator.normal(size=66) + 0.8 * x
    found = correlations(x, y, samples=3000, seed=1, members=(first, second))
    matrix_x, matrix_y = np.zeros((12, 12)), np.zeros((12, 12))
    matrix_x[first, second] = matrix_x[second, first] = x
    matrix_y[first, second] = matrix_y[second, first] = y
    values = []
    for _ in range(3000):
        drawn = generator.integers(0, 12, 12)
        left, right = (drawn[index] for index in pairs_of(12))
        keep = left != right  # a text is not paired with its own copy
        values.append(pearsonr(matrix_x[left, right][keep], matrix_y[left, right][keep]).statistic)
    expected = np.quantile(values, [tail(12), 1 - tail(12)])
    assert (found["pearson"].ci_low, found["pearson"].ci_high) == pytest.approx(expected, abs=0.03)


def test_the_interval_over_members_is_wider_than_over_pairs() -> None:
    generator = np.random.default_rng(5)
    first, second = pairs_of(30)
    effects = generator.normal(size=(2, 30))
    x, y = effects[:, first] + effects[:, second]
    members = correlations(x, y, samples=1000, seed=1, members=(first, second))["spearman"]
    pairs = correlations(x, y, samples=1000, seed=1)["spearman"]
    assert members.value == pairs.value
    assert None not in (members.ci_low, members.ci_high, pairs.ci_low, pairs.ci_high)
    assert members.ci_high - members.ci_low > 2 * (pairs.ci_high - pairs.ci_low)  # type: ignore[operator]


def test_what_has_no_correlation_is_refused() -> None:
    x = np.arange(4.0)
    with pytest.raises(ValueError, match="all predictions are equal"):
        correlations(np.ones(4), x, 10, 0)
    with pytest.raises(ValueError, match="all human scores are equal"):
        correlations(x, np.ones(4), 10, 0)
    with pytest.raises(ValueError, match="human scores"):
        correlations(x, np.arange(5.0), 10, 0)


def test_cosines() -> None:
    left = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
    right = np.array([[0.0, 3.0], [2.0, 2.0], [1.0, 1.0], [-1.0, 0.0]])
    assert cosines(left, right) == pytest.approx([0.0, 1.0, 0.0, -1.0])


def test_parts_have_correlations_of_their_own() -> None:
    """Three sub-tasks of unlike size and scale, with ties, against scipy on each."""
    generator = np.random.default_rng(8)
    sizes = (40, 10, 25)
    parts = np.repeat(np.arange(3), sizes)
    gold = np.round(generator.uniform(0, 5, 75), 0)
    predicted = np.round(gold / 5 + generator.normal(size=75) * 0.3, 1) + parts
    mixed = generator.permutation(75)  # the parts need not stand together
    found = part_correlations(predicted[mixed], gold[mixed], parts[mixed], samples=200, seed=1)
    for name, statistic in (("pearson", pearsonr), ("spearman", spearmanr)):
        own = [statistic(predicted[parts == part], gold[parts == part]).statistic for part in range(3)]
        assert found[f"{name}-mean"].value == pytest.approx(np.mean(own), abs=1e-12)
        assert found[f"{name}-weighted"].value == pytest.approx(np.average(own, weights=sizes), abs=1e-12)
    for measure in found.values():
        assert measure.n == 75
        assert measure.ci_low is not None and measure.ci_high is not None
        assert measure.ci_low < measure.value < measure.ci_high
    every = correlations(predicted, gold, samples=20, seed=1)["pearson"].value
    assert every < found["pearson-mean"].value, "shifted parts correlate less together than alone"


def test_intervals_of_parts_resample_pairs() -> None:
    generator = np.random.default_rng(9)
    parts = np.repeat([0, 1], 30)
    gold = generator.normal(size=60)
    predicted = gold + generator.normal(size=60)
    found = part_correlations(predicted, gold, parts, samples=2000, seed=1)["pearson-mean"]
    values = []
    for _ in range(2000):
        drawn = generator.integers(0, 60, 60)
        own = [drawn[parts[drawn] == part] for part in (0, 1)]
        values.append(np.mean([pearsonr(predicted[one], gold[one]).statistic for one in own]))
    assert (found.ci_low, found.ci_high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.03)


def test_a_part_without_a_correlation_is_refused() -> None:
    with pytest.raises(ValueError, match="part 1 is constant"):
        part_correlations(np.arange(4.0), np.array([1.0, 2.0, 3.0, 3.0]), np.array([0, 0, 1, 1]), 10, 0)
