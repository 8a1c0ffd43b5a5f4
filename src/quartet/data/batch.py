"""A batch of token ids with the place of every token, before any objective has touched it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from quartet.config.model import POSITIONS, Position


@dataclass(frozen=True)
class Tensors:
    """A dataclass whose fields are tensors, other such dataclasses, and what stays on the CPU."""

    def to(self, device: torch.device | str) -> Self:
        """On a device; from pinned memory without waiting for it."""
        return self._moved(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Self:
        """In memory that a GPU reads by itself."""
        return self._moved(Tensor.pin_memory)

    def _moved(self, move: Callable[[Tensor], Tensor]) -> Self:
        moved: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Tensor):
                moved[field.name] = move(value)
            elif isinstance(value, Tensors):
                moved[field.name] = value._moved(move)
        return replace(self, **moved)


@dataclass(frozen=True)
class Batch(Tensors):
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

    def widened(self, width: int, pad_id: int) -> Batch:
        """The same with padding up to `width` columns."""
        missing = (0, width - self.ids_BT.shape[1])
        return replace(
            self,
            ids_BT=F.pad(self.ids_BT, missing, value=pad_id),
            positions_BTP=F.pad(self.positions_BTP, (0, 0, *missing)),
            real_BT=F.pad(self.real_BT, missing, value=False),
        )

    def split(self, parts: int, trim: bool = True) -> list[Batch]:
        """Exactly `parts` batches that together are this one; some have no rows where there are too few.

        Args:
            trim: a part loses the columns that are padding in all of its rows; False: all parts are of one length.
        """
        split = []
        for part, (low, high) in enumerate(part_edges(len(self.ids_BT), parts)):
            real_BT = self.real_BT[low:high]
            width = max(1, int(real_BT.any(dim=0).sum())) if trim else self.ids_BT.shape[1]
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


def one_of_few(length: int, longest: int, lengths: int) -> int:
    """`length` rounded up to one of so many lengths, which are evenly apart up to `longest`.

    >>> [one_of_few(length, 100, 4) for length in (3, 25, 26, 99)]
    [25, 25, 50, 100]
    """
    unit = -(-longest // lengths)
    return max(length, min(longest, -(-length // unit) * unit))


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
    return padded([(row.ids, indices(row)) for row in rows], pad_id, width)


def indices(row: Row) -> np.ndarray:
    """The positions (n, P) of an input by itself."""
    token, sentence, paragraph = row.segments.T
    return lay_columns(
        len(row.ids),
        np.int64,
        {
            "sequence": lambda: np.arange(len(row.ids)),
            "token": lambda: token,
            "sentence": lambda: sentence,
            "paragraph": lambda: paragraph,
        },
    )


def lay_columns(
    size: int, whole: type[np.signedinteger[Any]], indices: Mapping[Position, Callable[[], np.ndarray]]
) -> np.ndarray:
    """Positions (n, P): n indices of each kind, made when their turn comes, in the order of `POSITIONS`."""
    positions = np.empty((size, len(POSITIONS)), dtype=whole)
    for column, kind in enumerate(POSITIONS):
        positions[:, column] = indices[kind]()
    return positions


def padded(rows: Sequence[tuple[np.ndarray, np.ndarray]], pad_id: int, width: int = 0) -> Batch:
    """Ids (n,) and positions (n, P) of each row, on the right of which padding makes them equally long."""
    longest = max(width, *(len(ids) for ids, _ in rows))
    ids_BT = np.full((len(rows), longest), pad_id, dtype=np.int64)
    positions_BTP = np.zeros((len(rows), longest, len(POSITIONS)), dtype=np.int64)
    real_BT = np.zeros((len(rows), longest), dtype=bool)
    for index, (ids, positions) in enumerate(rows):
        ids_BT[index, : len(ids)] = ids
        positions_BTP[index, : len(ids)] = positions
        real_BT[index, : len(ids)] = True
    return Batch(torch.from_numpy(ids_BT), torch.from_numpy(positions_BTP), torch.from_numpy(real_BT))
