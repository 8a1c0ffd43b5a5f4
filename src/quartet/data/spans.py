"""Batches of document spans between [CLS] and [SEP] (Bai et al. 2021, section "Data preparation")."""

from __future__ import annotations

import numpy as np

from quartet.data.batch import Batch, Row, collate, framed
from quartet.data.segments import SegmentedTokens
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


class SpanSource:
    """Spans sampled as the paper says: a document in proportion to its length, then one of its sentences as the start.

    Following sentences are added until the input is full (the last one is cut to fit) or the document ends. Two
    examples of a document of three sentences of 4 tokens, with room for 6: starting at the first, all of it and
    2 tokens of the second; starting at the last, 4 tokens.

    Without a seed (evaluation) the spans tile each document from its beginning, so that each token comes once.
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
        self.tokens = SegmentedTokens(corpus)
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.room = max_length - 2
        self.batch_size = batch_size
        self.seed = seed
        sizes = np.diff(self.tokens.document_tokens)
        self._chances = sizes / max(1, sizes.sum())
        self._tiles = [
            (int(at), int(min(at + self.room, end)))
            for start, end in zip(self.tokens.document_tokens, self.tokens.document_tokens[1:], strict=False)
            for at in range(start, end, self.room)
        ]

    @property
    def steps_per_epoch(self) -> int:
        """Steps that read as many tokens as the corpus has."""
        return max(1, -(-len(self._tiles) // self.batch_size))

    def batch(self, step: int) -> Batch:
        if self.seed is None:
            start = (step % self.steps_per_epoch) * self.batch_size
            rows = [self.tokens.row(*tile) for tile in self._tiles[start : start + self.batch_size]]
        else:
            random = np.random.default_rng([self.seed, step])
            rows = [self._sample(random) for _ in range(self.batch_size)]
        framed_rows = [framed(row, self.tokenizer.cls_id, self.tokenizer.sep_id) for row in rows]
        return collate(framed_rows, self.tokenizer.pad_id)

    def _sample(self, random: np.random.Generator) -> Row:
        document = int(random.choice(len(self._chances), p=self._chances))
        first, last = self.corpus.document_offsets[document], self.corpus.document_offsets[document + 1]
        start = int(self.corpus.sentence_offsets[random.integers(first, last)])
        return self.tokens.row(start, min(start + self.room, int(self.tokens.document_tokens[document + 1])))
