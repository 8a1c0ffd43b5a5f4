"""Means of texts whose vectors come in batches, in any order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quartet.scoring.text_means import TextMeans


@given(st.lists(st.lists(st.integers(0, 4), max_size=12), max_size=4), st.integers(0, 2**16))
def test_the_mean_is_that_of_all_vectors_of_a_text(batches: list[list[int]], seed: int) -> None:
    chance = np.random.default_rng(seed)
    drawn = [chance.normal(size=(len(texts), 3)).astype(np.float32) for texts in batches]
    told: list[tuple[int, int]] = []
    means = TextMeans(5, 3, 99, lambda done, total: told.append((done, total)))
    for texts, vectors in zip(batches, drawn, strict=True):
        means.add(np.array(texts, dtype=np.int64), vectors)
    numbers = np.array([text for texts in batches for text in texts], dtype=np.int64)
    vectors = np.concatenate([np.zeros((0, 3), dtype=np.float32), *drawn])
    expected = [
        vectors[numbers == text].mean(0) if (numbers == text).any() else np.zeros(3) for text in range(5)
    ]
    np.testing.assert_allclose(means.means(), expected, atol=1e-6)
    assert told == [(sum(map(len, batches[: at + 1])), 99) for at in range(len(batches))]
