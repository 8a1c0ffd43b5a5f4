"""Texts of any length into inputs of at most the model's length, every token in exactly one of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quartet.config.model import Reads
from quartet.data.batch import Row

#: Share of a row that its text has to fill, and share of the budget from which a batch is large enough without it.
LEAST_FULL, LARGE_ENOUGH = 0.9, 1 / 8


@dataclass(frozen=True)
class TextWindow:
    """Tokens start..stop of one text."""

    text: int
    start: int
    stop: int
    row: Row

    def __len__(self) -> int:
        return self.stop - self.start


def even_parts(length: int, room: int) -> list[tuple[int, int]]:
    """Cut 0..length into the fewest parts of at most `room`, as even as can be; no text gives one empty part.

    10 tokens with room for 4 are cut at 0, 3, 6 and 10, never into 4, 4 and a fragment of 2.
    """
    count = max(1, -(-length // room))
    edges = [length * part // count for part in range(count + 1)]
    return list(itertools.pairwise(edges))


def full_parts(length: int, room: int) -> list[tuple[int, int]]:
    """Cut 0..length into parts of `room` and a rest: where a part ends does not depend on what comes after it."""
    return [(at, min(at + room, length)) for at in range(0, max(1, length), room)]


def cut_windows(texts: Sequence[Row], reads: Reads, room: int, causal: bool) -> Iterator[TextWindow]:
    """Cut texts for models that read sentences (one input a sentence) or spans (inputs as long as fit).

    Args:
        causal: later tokens must not move earlier ones, so no part may depend on the length of the whole.
    """
    parts = full_parts if causal else even_parts
    for number, text in enumerate(texts):
        edges = [0, len(text.ids)]
        if reads == "sentences" and len(text.ids):
            starts = np.flatnonzero(text.segments[:, 0] == 0)
            edges = [*starts.tolist(), len(text.ids)]
        for begin, end in itertools.pairwise(edges):
            for low, high in parts(end - begin, room):
                part = slice(begin + low, begin + high)
                segments = text.segments[part]
                if reads == "sentences":
                    segments = segments - segments[:1]
                yield TextWindow(number, begin + low, begin + high, Row(text.ids[part], segments))


def batches_within(windows: Iterable[TextWindow], budget: int, specials: int) -> Iterator[list[TextWindow]]:
    """Batches of windows of like length, each of at most `budget` tokens with padding (or of one window).

    Longest first, so that the largest batch comes at once. A batch that is large enough to keep a device busy ends
    where a window would be padding by more than a tenth.
    """
    batch: list[TextWindow] = []
    for window in sorted(windows, key=lambda item: (-len(item), item.text, item.start)):
        width = len(batch[0]) + specials if batch else 0
        padded = len(window) + specials < LEAST_FULL * width and len(batch) * width >= budget * LARGE_ENOUGH
        if batch and (padded or (len(batch) + 1) * width > budget):
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


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
