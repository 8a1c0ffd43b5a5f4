"""Parallel text, its pairs of sentences as ids, and their batches: of like length, with so many tokens at most.

Parallel text is two files, one sentence a line, line n of one the translation of line n of the other.

Shapes: B pairs, S tokens of a source, T tokens of a target.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from quartet.data.batch import Tensors, part_edges
from quartet.data.sentences import least_padding
from quartet.errors import InputError
from quartet.nbest.formats.text_file import read_text
from quartet.recognise.vocabulary import PieceTokenizer

#: In the place of a target where nothing is to be predicted.
IGNORED = -100
#: Shapes of the batches of an epoch, where they are to be few.
SHAPES = 16
#: Sentences that are encoded together: millions at once would fill the memory with the library's objects.
CHUNK = 10_000


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations: `source[n]` and `target[n]` belong together.

    Runs of white space are one space.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.source)


def read_parallel(source: str | Path, target: str | Path) -> ParallelText:
    """Read two files, plain or gzipped.

    Raises:
        InputError: a file cannot be read, holds broken bytes, a NUL or an empty line, or they differ in their number
            of lines.
    """
    sides = read_lines(source), read_lines(target)
    counts = [len(side) for side in sides]
    if counts[0] != counts[1]:
        raise InputError(
            f"{source} and {target}",
            f"{counts[0]:,} and {counts[1]:,} lines: line n of one must translate line n of the other",
        )
    return ParallelText(*sides)


def read_lines(path: str | Path) -> tuple[str, ...]:
    """The lines of a text file, plain or gzipped, split at line feeds alone: other breaks are white space.

    Raises:
        InputError: as for :func:`read_parallel`; it names the file and the line.
    """
    text = read_text(path)
    if not text:
        raise InputError(path, "holds no line")
    rows = text.removesuffix("\n").split("\n")
    lines = tuple(" ".join(row.split()) for row in rows)
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise InputError(f"{path}:{number}", "a NUL character", "this is no plain text")
        if not line:
            raise InputError(f"{path}:{number}", "an empty line", "take the line out of both files")
    return lines


@dataclass(frozen=True)
class RaggedRows:
    """Rows of ids, flat: row n is ``ids[offsets[n] : offsets[n + 1]]``."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> RaggedRows:
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        ids = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
        return cls(ids, offsets)

    @classmethod
    def joined(cls, parts: Sequence[RaggedRows]) -> RaggedRows:
        """The rows of all parts."""
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(np.concatenate([part.ids for part in parts]), np.concatenate([[0], np.cumsum(lengths)]))

    def row(self, index: int) -> NDArray[np.int32]:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)


@dataclass(frozen=True)
class EncodedPairs:
    """The pairs that fit; `dropped` did not: half a sentence is no translation of the whole."""

    source: RaggedRows
    target: RaggedRows
    dropped: int

    def __len__(self) -> int:
        return len(self.source.lengths)


def encode_pairs(text: ParallelText, tokenizer: PieceTokenizer, max_length: int) -> EncodedPairs:
    """The ids of both sides, without specials, where both have at most `max_length` - 1."""
    sources, targets, dropped = [], [], 0
    for start in range(0, len(text), CHUNK):
        sides = (tokenizer.encode_batch(side[start : start + CHUNK]) for side in (text.source, text.target))
        pairs = list(zip(*sides, strict=True))
        kept = [pair for pair in pairs if max(map(len, pair)) < max_length]
        sources.append(RaggedRows.of([source for source, _ in kept]))
        targets.append(RaggedRows.of([target for _, target in kept]))
        dropped += len(pairs) - len(kept)
    return EncodedPairs(RaggedRows.joined(sources), RaggedRows.joined(targets), dropped)


@dataclass(frozen=True)
class PairBatch(Tensors):
    """Inputs and targets of one step, or of a part of it; where the targets are is found before it goes to a device.

    Attributes:
        source_BS: ids with [EOS], padded on the right.
        real_BS: False at padding.
        inputs_BT: the target behind [BOS], padded on the right.
        places_N: the targets' places, b T + t.
        targets_N: the ids that are right there, [EOS] included.
        part: number of this part.
    """

    source_BS: Tensor
    real_BS: Tensor
    inputs_BT: Tensor
    places_N: Tensor
    targets_N: Tensor
    part: int

    @classmethod
    def of(cls, source_BS: Tensor, targets_BT: Tensor, part: int = 0) -> PairBatch:
        """From the ids of both sides with [EOS], padded on the right, the targets with `IGNORED`."""
        wanted_BT = targets_BT != IGNORED
        inputs_BT = F.pad(targets_BT[:, :-1], (1, 0), value=PieceTokenizer.bos_id)
        inputs_BT[:, 1:].masked_fill_(~wanted_BT[:, 1:], PieceTokenizer.pad_id)
        (places_N,) = wanted_BT.flatten().nonzero(as_tuple=True)
        real_BS = source_BS != PieceTokenizer.pad_id
        return cls(source_BS, real_BS, inputs_BT, places_N, targets_BT.flatten()[places_N], part)

    @property
    def targets(self) -> int:
        """How many tokens are predicted."""
        return len(self.targets_N)

    @property
    def targets_BT(self) -> Tensor:
        """The targets in their places, `IGNORED` elsewhere."""
        targets_BT = torch.full_like(self.inputs_BT, IGNORED)
        targets_BT.view(-1)[self.places_N] = self.targets_N
        return targets_BT

    def split(self, parts: int, trim: bool = True) -> list[PairBatch]:
        """Exactly `parts` batches that together are this one; some have no rows where there are too few.

        Args:
            trim: a part loses the columns that are padding in all of its rows; False: all parts are of one length.
        """
        split, targets_BT = [], self.targets_BT
        for part, (low, high) in enumerate(part_edges(len(self.source_BS), parts)):
            source, targets = self.source_BS[low:high], targets_BT[low:high]
            if trim:
                source = source[:, : max(1, int(self.real_BS[low:high].any(dim=0).sum()))]
                targets = targets[:, : max(1, int((targets != IGNORED).any(dim=0).sum()))]
            split.append(PairBatch.of(source, targets, part))
        return split


class PairSource:
    """Each pair once an epoch, in batches of like length whose longer side has `batch_tokens` at most, with padding.

    A batch of its own is left to a pair that is longer. The order depends on the seed and the epoch alone, so that a
    stopped training can go on; without a seed (validation) it is fixed.
    """

    def __init__(
        self, pairs: EncodedPairs, *, batch_tokens: int, seed: int | None, few_shapes: bool = False
    ) -> None:
        """Args:
        few_shapes: both sides are padded to one of `SHAPES` lengths, and rows that ask for nothing make all batches of
            a length equally many: a GPU chooses its kernels anew for each shape. No target changes.
        """
        self.pairs = pairs
        self.seed = seed
        self.longer = np.maximum(pairs.source.lengths, pairs.target.lengths) + 1
        lengths = np.sort(self.longer)
        self.edges = _edges(lengths, batch_tokens)
        #: rows of the batches of each length; none: batches are as large as their pairs
        self._rows = _rows_by_length(lengths, self.edges) if few_shapes else {}
        self._epoch = -1
        self._batches: list[NDArray[np.int64]] = []

    @property
    def steps_per_epoch(self) -> int:
        """The same in all epochs: where the sorted lengths are cut does not depend on which pairs they are of."""
        return len(self.edges) - 1

    @property
    def targets_per_step(self) -> float:
        """Target tokens of a batch, [EOS] included, in the mean: what the loss of every step is divided by."""
        return (int(self.pairs.target.lengths.sum()) + len(self.pairs)) / max(1, self.steps_per_epoch)

    def batch(self, step: int) -> PairBatch:
        """The batch of a step."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._batches = self._arrange(epoch)
            self._epoch = epoch
        chosen = self._batches[place]
        eos, pad = PieceTokenizer.eos_id, PieceTokenizer.pad_id
        source_BS, targets_BT = (
            padded([[*side.row(int(index)).tolist(), eos] for index in chosen], fill)
            for side, fill in ((self.pairs.source, pad), (self.pairs.target, IGNORED))
        )
        if self._rows:
            longest = int(self.longer[chosen].max())
            length, rows = next(shape for shape in self._rows.items() if shape[0] >= longest)
            source_BS, targets_BT = (
                F.pad(side, (0, length - side.shape[1], 0, rows - len(side)), value=fill)
                for side, fill in ((source_BS, pad), (targets_BT, IGNORED))
            )
            source_BS[len(chosen) :, 0] = eos  # attention to no key at all would have no value
        return PairBatch.of(source_BS, targets_BT)

    def _arrange(self, epoch: int) -> list[NDArray[np.int64]]:
        """Pairs sorted by length, equally long ones and the batches themselves in a new order each epoch."""
        order = np.arange(len(self.longer))
        random = None if self.seed is None else np.random.default_rng([self.seed, epoch])
        if random is not None:
            order = random.permutation(order)
        order = order[np.argsort(self.longer[order], kind="stable")]
        batches = [order[low:high] for low, high in itertools.pairwise(self.edges)]
        if random is None:
            return batches
        return [batches[index] for index in random.permutation(len(batches))]


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Rows of ids as one (B, longest) tensor, filled on the right."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], dtype=torch.int64)


def _rows_by_length(lengths: NDArray[np.int64], edges: Sequence[int]) -> dict[int, int]:
    """Lengths that batches are padded to, rising, and how many rows each of these has, so that the least is padding.

    Args:
        lengths: (N,) of all pairs, rising.
        edges: where they are cut into batches.
    """
    longest_N, rows_N = lengths[np.array(edges[1:]) - 1], np.diff(edges)
    lengths_U, of_batch_N, counts_U = np.unique(longest_N, return_inverse=True, return_counts=True)
    rows_U = np.zeros_like(lengths_U)
    np.maximum.at(rows_U, of_batch_N, rows_N)
    falling_U = np.maximum.accumulate(rows_U[::-1])[::-1]
    chosen = least_padding(lengths_U, counts_U, SHAPES, falling_U)
    starts = [0, *(np.searchsorted(lengths_U, chosen) + 1)]
    return {int(length): int(falling_U[start]) for length, start in zip(chosen, starts, strict=False)}


def _edges(lengths: NDArray[np.int64], batch_tokens: int) -> list[int]:
    """Where ascending lengths are cut so that rows x longest <= batch_tokens, one row at least."""
    edges, start = [0], 0
    for index, length in enumerate(lengths.tolist()):
        if index > start and (index + 1 - start) * length > batch_tokens:
            edges.append(index)
            start = index
    return [*edges, len(lengths)]
