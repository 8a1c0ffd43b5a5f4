"""Batches of single sentences between [BOS] and [EOS] (Shin et al. 2020, section 5.1)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from quartet.config.model import POSITIONS
from quartet.config.training import BatchBy
from quartet.data.batch import Batch, RowLengths, framed, indices, one_of_few
from quartet.data.passages import sentence_row
from quartet.errors import InputError
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer

#: Batches of a fixed number of sentences whose sentences are sorted by length together; wide enough to save padding,
#: narrow enough to stay random.
POOL = 32

#: Different lengths that are looked at to find these; more are rounded up to so many.
CANDIDATES = 512

#: Lengths that batches of a number of tokens are padded to. With the one short batch of an epoch these are 16 shapes.
SHAPES = 15


class SentenceSource:
    """Each sentence of the corpus once an epoch, batched with sentences of like length.

    With `batch_by` ``tokens`` a step reads about `batch_size` times the mean length of a sentence, whatever the length
    of its sentences: many short ones or a few long ones, padded to one of `SHAPES` lengths. With ``sentences`` a step
    reads exactly `batch_size` sentences, as published, and the tokens of a step vary with their lengths.

    A sentence over the maximum loses its end; `cut` counts the tokens lost that way. The order depends on the seed and
    the epoch alone. Without a seed (evaluation) it is the same in every epoch, and ``sentences`` come in the order of
    the corpus.
    """

    def __init__(
        self,
        corpus: EncodedCorpus,
        tokenizer: TextTokenizer,
        *,
        max_length: int,
        batch_size: int,
        seed: int | None,
        batch_by: BatchBy = "tokens",
        few_shapes: bool = False,
    ) -> None:
        """Args:
        few_shapes: batches of a number of sentences too are padded to one of `SHAPES` lengths.
        """
        self.few_shapes = few_shapes
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.room = max_length - 2
        self.batch_size = batch_size
        self.seed = seed
        self.lengths = np.minimum(np.diff(corpus.sentence_offsets), self.room)
        if seed is not None and 0 < len(self.lengths) < batch_size:
            raise InputError(
                "training.batch_size",
                f"{batch_size:,} sentences are more than the {len(self.lengths):,} of the training split",
                f"write {len(self.lengths)} or less, or bring more text",
            )
        self.cut = int((np.diff(corpus.sentence_offsets) - self.lengths).sum())
        self._shapes = BatchShapes.of(self.lengths + 2, batch_size) if batch_by == "tokens" else None
        distinct = np.unique(self.lengths)
        inputs = [
            indices(framed(sentence_row(np.zeros(length)), tokenizer.bos_id, tokenizer.eos_id))
            for length in distinct.tolist()
        ]
        #: of an input of each length that occurs, one after another; where they start, by the number of own tokens
        self._positions_NP = np.concatenate([np.zeros((0, len(POSITIONS)), dtype=np.int64), *inputs])
        self._starts_L = np.zeros(int(self.lengths.max(initial=0)) + 1, dtype=np.int64)
        self._starts_L[distinct] = np.cumsum([0, *map(len, inputs)])[:-1]
        self._epoch = -1
        self._batches: list[tuple[NDArray[np.int64], int]] = []

    @property
    def steps_per_epoch(self) -> int:
        return self._shapes.steps if self._shapes else -(-len(self.lengths) // self.batch_size)

    @property
    def row_lengths(self) -> RowLengths:
        rows = len(self.lengths) / max(1, self.steps_per_epoch)
        return RowLengths(self.lengths, np.full(len(self.lengths), 1 / max(1, len(self.lengths))), rows)

    def batch(self, step: int) -> Batch:
        """The batch of a step: (B, T) with T its shape's length, or that of the longest sentence in it plus 2."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._batches = self._arrange(epoch)
            self._epoch = epoch
        sentences, kind = self._batches[place]
        lengths_B1 = self.lengths[sentences][:, None]
        width = max(kind, int(lengths_B1.max()) + 2)
        if self.few_shapes and not kind:
            width = one_of_few(width, self.room + 2, SHAPES)
        column_T = np.arange(width)
        own_BT = (column_T >= 1) & (column_T <= lengths_B1)
        ids_BT = np.full(own_BT.shape, self.tokenizer.pad_id)
        ids_BT[:, 0] = self.tokenizer.bos_id
        first_B1 = self.corpus.sentence_offsets[sentences][:, None]
        ids_BT[own_BT] = self.corpus.ids.take((first_B1 + column_T - 1)[own_BT])
        np.put_along_axis(ids_BT, lengths_B1 + 1, self.tokenizer.eos_id, axis=1)
        real_BT = column_T <= lengths_B1 + 1
        positions_BTP = np.zeros((*real_BT.shape, len(POSITIONS)), dtype=np.int64)
        at_N = (self._starts_L[lengths_B1] + column_T)[real_BT]
        positions_BTP[real_BT] = self._positions_NP.take(at_N, axis=0)
        return Batch(
            torch.from_numpy(ids_BT), torch.from_numpy(positions_BTP), torch.from_numpy(real_BT), kind=kind
        )

    def _arrange(self, epoch: int) -> list[tuple[NDArray[np.int64], int]]:
        """The sentences of each batch, and the length they are padded to (0: that of the longest)."""
        order = np.arange(len(self.lengths))
        if self._shapes is not None:
            random = np.random.default_rng(0 if self.seed is None else [self.seed, epoch])
            order = random.permutation(order)
            shaped = self._shapes.batches(order, self.lengths[order] + 2)
            return [shaped[index] for index in random.permutation(len(shaped))]
        if self.seed is None:
            return [(order[at : at + self.batch_size], 0) for at in range(0, len(order), self.batch_size)]
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(order)
        pool = POOL * self.batch_size
        pooled = [order[at : at + pool] for at in range(0, len(order), pool)]
        order = np.concatenate([part[np.argsort(self.lengths[part], kind="stable")] for part in pooled])
        batches = [(order[at : at + self.batch_size], 0) for at in range(0, len(order), self.batch_size)]
        return [batches[index] for index in random.permutation(len(batches))]


class BatchShapes:
    """How sentences are divided into batches of about equally many tokens, in few shapes.

    Sentences belong to the shortest shape that holds them. Those that do not fill a batch of their shape go on to the
    next longer one, so that one batch of an epoch at most is short.

    Attributes:
        lengths: (S,) tokens of a row in each shape, [BOS] and [EOS] included, rising.
        rows: (S,) rows of a batch of each shape.
        steps: batches of an epoch. It does not depend on the order of the sentences.
    """

    def __init__(self, lengths: NDArray[np.int64], rows: NDArray[np.int64], steps: int) -> None:
        self.lengths = lengths
        self.rows = rows
        self.steps = steps

    @classmethod
    def of(cls, lengths: NDArray[np.int64], batch_size: int) -> BatchShapes:
        """The shapes that pad a corpus least.

        Args:
            lengths: (N,) of the sentences, [BOS] and [EOS] included.
            batch_size: sentences of mean length that a batch holds.
        """
        if not len(lengths):
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
        step = -(-int(lengths.max()) // CANDIDATES)
        rounded = np.minimum(-(-lengths // step) * step, lengths.max())
        shapes = least_padding(*np.unique(rounded, return_counts=True), SHAPES)
        of_shape = np.searchsorted(shapes, lengths)
        tokens = np.bincount(of_shape, weights=lengths, minlength=len(shapes))
        mean = tokens / np.maximum(1, np.bincount(of_shape, minlength=len(shapes)))
        rows = np.maximum(1, np.rint(batch_size * lengths.mean() / mean)).astype(np.int64)
        made = cls(shapes, rows, 0)
        made.steps = len(made.batches(np.arange(len(lengths)), lengths))
        return made

    def batches(
        self, order: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> list[tuple[NDArray[np.int64], int]]:
        """The sentences of each batch in the order given, and the batch's length; short shapes first.

        Args:
            order: (N,) numbers of the sentences.
            lengths: (N,) of these, [BOS] and [EOS] included.
        """
        of_shape = np.searchsorted(self.lengths, lengths)
        found: list[tuple[NDArray[np.int64], int]] = []
        waiting = order[:0]
        for shape, (length, rows) in enumerate(zip(self.lengths.tolist(), self.rows.tolist(), strict=True)):
            here = np.concatenate([waiting, order[of_shape == shape]])
            full = len(here) // rows * rows
            found += [(here[at : at + rows], length) for at in range(0, full, rows)]
            waiting = here[full:]
        if len(waiting):
            found.append((waiting, int(self.lengths[-1])))
        return found


def least_padding(
    lengths: NDArray[np.int64], counts: NDArray[np.int64], most: int, rows: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Which lengths to pad to, `most` of them, so that the fewest tokens are padding.

    By dynamic programming over the longest length of each shape: the first m lengths in k shapes cost the least over j
    of the first j in k - 1 shapes, and all sentences of the others at the m-th length.

    Args:
        lengths: (U,) that occur, rising.
        counts: (U,) sentences of each.
        rows: (U,) falling; where `counts` are of batches, the rows of each, which a shape's batches are all filled up
            to. None: one.
    """
    if len(lengths) <= most:
        return lengths
    before = np.concatenate([[0], np.cumsum(counts)])
    cost_JM = ((before[None, 1:] - before[:-1, None]) * lengths).astype(
        np.float64
    )  # lengths J to M in one shape
    if rows is not None:
        cost_JM *= rows[:, None]
    cost_JM[np.tril_indices(len(lengths), -1)] = np.inf
    least_M, starts = cost_JM[0], []
    for _ in range(most - 1):
        total_JM = np.concatenate([[np.inf], least_M[:-1]])[:, None] + cost_JM
        starts.append(total_JM.argmin(axis=0))
        least_M = total_JM.min(axis=0)
    ends = [len(lengths) - 1]
    for start_M in reversed(starts):
        ends.append(int(start_M[ends[-1]]) - 1)
    return lengths[ends[::-1]]
