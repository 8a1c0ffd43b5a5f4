"""A batch of token ids with the place of every token, before any objective has touched it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Batch:
    """Inputs of one step.

    Attributes:
        ids_BT: token ids, padded on the right.
        positions_BTP: sequence, token, sentence and paragraph index of each token, from 0.
        real_BT: False at padding.
        following_B: the token after the last real one of each row (streams only), a target for CLM.
        fresh: the rows do not continue those of the batch before.
        first_row: number of the first row within the step's whole batch, of which this may be a part.
        part: number of this part.
        kind: batches of one kind hold inputs of like length, so that their losses compare.
    """

    ids_BT: Tensor
    positions_BTP: Tensor
    real_BT: Tensor
    following_B: Tensor | None = None
    fresh: bool = True
    first_row: int = 0
    part: int = 0
    kind: int = 0

    def to(self, device: torch.device | str) -> Batch:
        return self.moved(lambda tensor: tensor.to(device, non_blocking=True))

    def moved(self, move: Callable[[Tensor], Tensor]) -> Batch:
        """The same with each tensor moved to another place."""
        return replace(
            self,
            ids_BT=move(self.ids_BT),
            positions_BTP=move(self.positions_BTP),
            real_BT=move(self.real_BT),
            following_B=None if self.following_B is None else move(self.following_B),
        )

    def split(self, parts: int) -> list[Batch]:
        """Exactly `parts` batches that together are this one; some have no rows where there are too few."""
        split = []
        for part, (low, high) in enumerate(part_edges(len(self.ids_BT), parts)):
            real_BT = self.real_BT[low:high]
            width = max(1, int(real_BT.any(dim=0).sum()))
            following_B = None if self.following_B is None else self.following_B[low:high]
            split.append(
                Batch(
                    ids_BT=self.ids_BT[low:high, :width],
                    positions_BTP=self.positions_BTP[low:high, :width],
                    real_BT=real_BT[:, :width],
                    following_B=following_B,
                    fresh=self.fresh,
                    first_row=low,
                    part=part,
                    kind=self.kind,
                )
            )
        return split


def part_edges(rows: int, parts: int) -> list[tuple[int, int]]:
    """The first row of each part of a batch, and the one after its last."""
    return list(itertools.pairwise(rows * part // parts for part in range(parts + 1)))


@dataclass(frozen=True)
class RowLengths:
    """How long the inputs of a source's batches are.

    Attributes:
        own: (N,) tokens that an input may have, special tokens apart.
        chances: (N,) how probable each of these is; their sum is 1.
        rows: inputs of a batch, in the mean of an epoch.
        specials: tokens of an input beside its own; 0: windows of running text, whose next token is known.
    """

    own: NDArray[np.int64]
    chances: NDArray[np.float64]
    rows: float
    specials: int = 2


class BatchSource(Protocol):
    """Batches by number: step n gives the same batch whenever, and by whomever, it is asked for.

    This is what lets a killed training go on as if nothing had happened.
    """

    @property
    def steps_per_epoch(self) -> int: ...

    @property
    def row_lengths(self) -> RowLengths: ...

    def batch(self, step: int) -> Batch: ...


def closes(real_BT: Tensor) -> Tensor:
    """(B, T) True at the last token of each row, whose padding stands on the right."""
    return real_BT & ~F.pad(real_BT[:, 1:], (0, 1), value=False)


@dataclass(frozen=True)
class Row:
    """One input as arrays: ids (n,) and, for each, its (token, sentence, paragraph) indices (n, 3)."""

    ids: np.ndarray
    segments: np.ndarray


def framed(row: Row, first: int, last: int) -> Row:
    """Put one special token on either side, with the segment indices of its neighbour (Bai et al. 2021, "Input").

    A row of sentence indices 0 0 1 becomes 0 0 0 1 1. An empty row gets zeros.
    """
    ids = np.concatenate([[first], row.ids, [last]]).astype(np.int64)
    if len(row.ids) == 0:
        return Row(ids, np.zeros((2, 3), dtype=np.int64))
    return Row(ids, np.concatenate([row.segments[:1], row.segments, row.segments[-1:]]).astype(np.int64))


def collate(rows: Sequence[Row], pad_id: int, width: int = 0) -> Batch:
    """Pad rows on the right into one batch, of `width` columns at least; the sequence index counts from 0 in each."""
    longest = max(width, *(len(row.ids) for row in rows))
    ids = np.full((len(rows), longest), pad_id, dtype=np.int64)
    positions = np.zeros((len(rows), longest, 4), dtype=np.int64)
    real = np.zeros((len(rows), longest), dtype=bool)
    for index, row in enumerate(rows):
        length = len(row.ids)
        ids[index, :length] = row.ids
        positions[index, :length, 0] = np.arange(length)
        positions[index, :length, 1:] = row.segments
        real[index, :length] = True
    return Batch(torch.from_numpy(ids), torch.from_numpy(positions), torch.from_numpy(real))
