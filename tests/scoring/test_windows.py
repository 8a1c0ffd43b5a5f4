"""Batches of windows: every window once, within the budget, and little of them padding."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quartet.data.batch import Row
from quartet.scoring.windows import LARGE_ENOUGH, LEAST_FULL, TextMeans, TextWindow, batches_within

SPECIALS = 2


def windows_of(lengths: list[int]) -> list[TextWindow]:
    """One window a text."""
    rows = [Row(np.zeros(n, dtype=np.int64), np.zeros((n, 3), dtype=np.int64)) for n in lengths]
    return [TextWindow(text, 0, len(row.ids), row) for text, row in enumerate(rows)]


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(1, 400))
def test_every_window_comes_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(batches_within(windows_of(lengths), budget, SPECIALS))
    assert sorted(window.text for batch in batches for window in batch) == list(range(len(lengths)))
    widths = [[len(window) + SPECIALS for window in batch] for batch in batches]
    assert all(len(batch) == 1 or len(batch) * max(batch) <= budget for batch in widths)
    ordered = [width for batch in widths for width in batch]
    assert ordered == sorted(ordered, reverse=True)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=80))
def test_only_small_batches_are_padded_by_much(lengths: list[int]) -> None:
    budget = 400
    for batch in batches_within(windows_of(lengths), budget, SPECIALS):
        widths = [len(window) + SPECIALS for window in batch]
        large = [at for at in range(len(widths)) if at * widths[0] >= LARGE_ENOUGH * budget]
        assert all(widths[at] >= LEAST_FULL * widths[0] for at in large)


def test_texts_of_one_length_fill_the_budget() -> None:
    batches = [len(batch) for batch in batches_within(windows_of([8] * 100), 400, SPECIALS)]
    assert batches == [40, 40, 20]


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
