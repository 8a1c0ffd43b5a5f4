"""Document similarity: cosines against human scores, each document resampled with all of its pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from quartet.results import Measure
from quartet.statistics import intervals
from quartet.statistics.intervals import Floats
from quartet.tasks.sts.data import ScoredPair, SimilaritySet, read_lee
from quartet.tasks.sts.metrics import (
    cosine_measures,
    mean_over_sets,
    similarities,
    similarity_set,
)
from tests.tasks.test_small_sets import FIXTURES


def lee() -> SimilaritySet:
    return read_lee(FIXTURES / "documents.cor", FIXTURES / "similarities.txt")


def measures_of(
    pairs: SimilaritySet, embed: Callable[[list[str]], Floats], samples: int, seed: int
) -> dict[str, Measure]:
    """Of the vectors that `embed` gives to the set's texts."""
    return cosine_measures(pairs, similarities(pairs, embed(list(pairs.texts))), samples, seed)


def letters(texts: list[str]) -> np.ndarray:
    """Counts of each letter: enough of an embedding for a test."""
    return np.array([[text.count(letter) for letter in "abcdeghilnorst"] for text in texts], dtype=np.float32)


def test_values_are_those_of_scipy_on_the_cosines() -> None:
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> np.ndarray:
        asked.append(texts)
        return letters(texts)

    found = measures_of(lee(), embed, samples=200, seed=1)
    assert asked == [list(lee().texts)]
    vectors = letters(list(lee().texts)).astype(float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    predicted = (vectors @ vectors.T)[lee().first, lee().second]
    assert found["pearson"].value == pytest.approx(pearsonr(predicted, lee().gold).statistic)
    assert found["spearman"].value == pytest.approx(spearmanr(predicted, lee().gold).statistic)
    assert found["pearson"].n == 6
    assert found == measures_of(lee(), letters, samples=200, seed=1)


def test_the_set_says_what_is_resampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "LEAST_UNITS", 2)  # the fixture has few texts
    shared = measures_of(lee(), letters, samples=500, seed=1)["pearson"]
    apart = measures_of(dataclasses.replace(lee(), shared=False), letters, samples=500, seed=1)["pearson"]
    assert shared.value == apart.value
    assert (shared.ci_low, shared.ci_high) != (apart.ci_low, apart.ci_high)


def test_useless_vectors_are_refused() -> None:
    cases = {
        "shape": lambda texts: np.ones((3, 2)),
        "NaN": lambda texts: np.full((4, 2), np.nan),
        "equal": lambda texts: np.zeros((4, 2)),
    }
    for match, embed in cases.items():
        with pytest.raises(ValueError, match=match):
            measures_of(lee(), embed, samples=10, seed=0)


PAIRS = [
    [
        ScoredPair("a cat", "cats", 4.0, "x"),
        ScoredPair("a dog", "the moon", 0.5, "x"),
        ScoredPair("a cat", "a dog", 2.0, "x"),
    ],
    [
        ScoredPair("rain", "a cat", 0.0, "y"),
        ScoredPair("hail", "rain", 3.5, "y"),
        ScoredPair("hail", "ice", 3.0, "y"),
    ],
]


def test_sub_tasks_are_one_set_of_distinct_texts() -> None:
    pairs = similarity_set(PAIRS)
    assert pairs.texts == ("a cat", "cats", "a dog", "the moon", "rain", "hail", "ice")
    assert [
        (pairs.texts[one], pairs.texts[other]) for one, other in zip(pairs.first, pairs.second, strict=True)
    ] == [(pair.first, pair.second) for part in PAIRS for pair in part]
    assert pairs.gold.tolist() == [4.0, 0.5, 2.0, 0.0, 3.5, 3.0]
    assert pairs.parts is not None and pairs.parts.tolist() == [0, 0, 0, 1, 1, 1]
    assert not pairs.shared
    assert similarity_set(PAIRS[:1]).parts is None
    with pytest.raises(ValueError, match="no pair"):
        similarity_set([[]])


def test_all_mean_and_weighted_are_three_figures() -> None:
    pairs = similarity_set(PAIRS)
    found = measures_of(pairs, letters, samples=50, seed=1)
    predicted = similarities(pairs, letters(list(pairs.texts)))
    assert found["pearson"].value == pytest.approx(pearsonr(predicted, pairs.gold).statistic)
    own = [pearsonr(predicted[part], pairs.gold[part]).statistic for part in (slice(0, 3), slice(3, 6))]
    assert found["pearson-mean"].value == pytest.approx(np.mean(own))
    assert found == cosine_measures(pairs, predicted, samples=50, seed=1)
    assert set(measures_of(similarity_set(PAIRS[:1]), letters, 50, 1)) == {"pearson", "spearman"}


def test_the_mean_over_years_is_of_their_own_correlations() -> None:
    years = [similarity_set(PAIRS), similarity_set(PAIRS[1:])]
    predicted = [similarities(year, letters(list(year.texts))) for year in years]
    found = mean_over_sets(predicted, [year.gold for year in years], samples=50, seed=1)
    own = [spearmanr(one, year.gold).statistic for one, year in zip(predicted, years, strict=True)]
    assert found["spearman-mean"].value == pytest.approx(np.mean(own))
    assert found["spearman-mean"].n == 9
    assert set(found) == {"pearson-mean", "spearman-mean"}


def test_a_text_without_a_vector_is_like_no_other() -> None:
    vectors = letters(["a cat", "cats", "a dog", "the moon"])
    vectors[1] = 0
    assert similarities(similarity_set(PAIRS[:1]), vectors)[0] == 0
