"""Batches of single sentences between [BOS] and [EOS] (Shin et al. 2020, section 5.1)."""

from __future__ import annotations

import numpy as np

from quartet.data.batch import Batch, Row, collate, framed
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer

#: Batches whose sentences are sorted by length together; wide enough to save padding, narrow enough to stay random.
POOL = 32


class SentenceSource:
    """Each sentence of the corpus once an epoch, batched with sentences of like length.

    A sentence over the maximum loses its end; `cut` counts the tokens lost that way. The order depends on the seed and
    the epoch alone; without a seed (evaluation) sentences come in the order of the corpus.
    """

    def __init__(
        self,
        corpus: EncodedCorpus,
        tokenizer: TextTokenizer,
        *,
        max_length: int,
        batch_size: int,
        seed: int | None,
    ) -> None:
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.room = max_length - 2
        self.batch_size = batch_size
        self.seed = seed
        self.lengths = np.minimum(np.diff(corpus.sentence_offsets), self.room)
        self.cut = int((np.diff(corpus.sentence_offsets) - self.lengths).sum())
        self._epoch = -1
        self._batches: list[np.ndarray] = []

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def batch(self, step: int) -> Batch:
        """The batch of a step: (B, T) with T the longest sentence in it plus 2."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._batches = self._arrange(epoch)
            self._epoch = epoch
        rows = []
        for sentence in self._batches[place]:
            ids = np.asarray(self.corpus.sentence(int(sentence)), dtype=np.int64)[: self.room]
            segments = np.zeros((len(ids), 3), dtype=np.int64)
            segments[:, 0] = np.arange(len(ids))
            rows.append(framed(Row(ids, segments), self.tokenizer.bos_id, self.tokenizer.eos_id))
        return collate(rows, self.tokenizer.pad_id)

    def _arrange(self, epoch: int) -> list[np.ndarray]:
        order = np.arange(len(self.lengths))
        if self.seed is None:
            return [order[at : at + self.batch_size] for at in range(0, len(order), self.batch_size)]
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(order)
        pool = POOL * self.batch_size
        pooled = [order[at : at + pool] for at in range(0, len(order), pool)]
        order = np.concatenate([part[np.argsort(self.lengths[part], kind="stable")] for part in pooled])
        batches = [order[at : at + self.batch_size] for at in range(0, len(order), self.batch_size)]
        return [batches[index] for index in random.permutation(len(batches))]
