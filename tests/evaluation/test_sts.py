"""Document similarity: cosines against human scores, each document resampled with all of its pairs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from quartet.evaluation.datasets import SimilaritySet, read_lee
from quartet.evaluation.sts import similarity_measures
from tests.evaluation.test_datasets import FIXTURES


def lee() -> SimilaritySet:
    return read_lee(FIXTURES / "documents.cor", FIXTURES / "similarities.txt")


def letters(texts: list[str]) -> np.ndarray:
    """Counts of each letter: enough of an embedding for a test."""
    return np.array([[text.count(letter) for letter in "abcdeghilnorst"] for text in texts], dtype=np.float32)


def test_values_are_those_of_scipy_on_the_cosines() -> None:
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> np.ndarray:
        asked.append(texts)
        return letters(texts)

    found = similarity_measures(lee(), embed, samples=200, seed=1)
    assert asked == [list(lee().texts)]
    vectors = letters(list(lee().texts)).astype(float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    predicted = (vectors @ vectors.T)[lee().first, lee().second]
    assert found["pearson"].value == pytest.approx(pearsonr(predicted, lee().gold).statistic)
    assert found["spearman"].value == pytest.approx(spearmanr(predicted, lee().gold).statistic)
    assert found["pearson"].n == 6
    assert found == similarity_measures(lee(), letters, samples=200, seed=1)


def test_the_set_says_what_is_resampled() -> None:
    shared = similarity_measures(lee(), letters, samples=500, seed=1)["pearson"]
    apart = similarity_measures(dataclasses.replace(lee(), shared=False), letters, samples=500, seed=1)[
        "pearson"
    ]
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
            similarity_measures(lee(), embed, samples=10, seed=0)
