"""Vectors of tokens to a vector a text: their mean, gathered batch by batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: Called with (tokens done, tokens in all).
Progress = Callable[[int, int], None]


class TextMeans:
    """The mean of each text's vectors, in float64.

    Args:
        texts: how many there are.
        dim: width D of a vector.
        total: vectors that will come, for the progress.
        progress: called after each batch.
    """

    def __init__(self, texts: int, dim: int, total: int, progress: Progress | None = None) -> None:
        self._sums = np.zeros((texts, dim))
        self._counts = np.zeros(texts, dtype=np.int64)
        self._done = 0
        self._total = total
        self._progress = progress

    def add(self, texts_N: NDArray[np.int64], vectors_ND: NDArray[np.float32]) -> None:
        """Take in vectors of the texts with these numbers. Those of one text best stand side by side."""
        self._counts += np.bincount(texts_N, minlength=len(self._counts))
        if len(texts_N):
            starts_R = np.concatenate([[0], np.flatnonzero(texts_N[1:] != texts_N[:-1]) + 1])
            sums_RD = np.add.reduceat(vectors_ND, starts_R, axis=0, dtype=np.float64)
            runs_R = texts_N[starts_R]
            if len(set(runs_R.tolist())) == len(runs_R):
                self._sums[runs_R] += sums_RD
            else:  # a text that was cut in parts: its runs add up
                np.add.at(self._sums, runs_R, sums_RD)
        self._done += len(texts_N)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def means(self) -> NDArray[np.float64]:
        """(texts, D); zeros for a text without vectors."""
        means: NDArray[np.float64] = self._sums / np.maximum(1, self._counts)[:, None]
        return means
