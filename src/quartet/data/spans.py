"""Batches of document spans between [CLS] and [SEP] (Bai et al. 2021, section "Data preparation")."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quartet.data.batch import Batch, Row, RowLengths, collate, framed, one_of_few
from quartet.data.segments import SegmentedTokens
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer

#: Steps whose spans are drawn together, so that those of a step are of like length: little of a batch is padding.
POOL = 16

#: Lengths that the batches of a training are padded to.
SHAPES = 16


class SpanSource:
    """Spans sampled as the paper says: a document in proportion to its length, then one of its sentences as the start.

    Following sentences are added until the input is full or the document ends. The paper leaves three things open: here
    a document's length is its tokens, the last sentence is cut to fit, and the specials have their neighbour's token
    index too. Example: a document of two paragraphs, each of two sentences, ``a b c | d e`` and ``f g | h``, and a
    `max_length` of 8. Started at the first sentence, the input is full within the third:

    =========  =====  =  =  =  =  =  =  =====
    input      [CLS]  a  b  c  d  e  f  [SEP]
    =========  =====  =  =  =  =  =  =  =====
    token      0      0  1  2  0  1  0  0
    sentence   0      0  0  0  1  1  0  0
    paragraph  0      0  0  0  0  0  1  1
    =========  =====  =  =  =  =  =  =  =====

    Started at the second, the document ends first:

    =========  =====  =  =  =  =  =  =====
    input      [CLS]  d  e  f  g  h  [SEP]
    =========  =====  =  =  =  =  =  =====
    token      0      0  1  0  1  0  0
    sentence   1      1  1  0  0  1  1
    paragraph  0      0  0  1  1  1  1
    =========  =====  =  =  =  =  =  =====

    Indices are those of the document; the model brings them under its maxima. Without a seed (evaluation) the spans
    tile each document from its beginning, so that each token comes once.
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
        #: (D,) chance that a document drawn is this one or an earlier one; the last is 1
        self._chances = np.cumsum(sizes / max(1, sizes.sum()))
        self._chances /= self._chances[-1:]
        self._pool: tuple[int, list[list[Row]]] | None = None
        #: (D,) evaluation spans of this document and all earlier ones
        self._tiles = np.cumsum(-(-sizes // self.room))

    @property
    def steps_per_epoch(self) -> int:
        """Steps that read as many tokens as the corpus has."""
        return max(1, -(-self._tiles_in_all // self.batch_size))

    def batch(self, step: int) -> Batch:
        """The batch of a step: (B, T) with T at most `max_length`, and in training one of `SHAPES` lengths."""
        if self.seed is None:
            start = (step % self.steps_per_epoch) * self.batch_size
            stop = min(start + self.batch_size, self._tiles_in_all)
            return collate(
                [self._framed(self._tile(number)) for number in range(start, stop)], self.tokenizer.pad_id
            )
        number, place = divmod(step, POOL)
        if self._pool is None or self._pool[0] != number:
            self._pool = number, self._draw_pool(np.random.default_rng([self.seed, number]))
        rows = self._pool[1][place]
        width = one_of_few(max(len(row.ids) for row in rows), self.room + 2, SHAPES)
        return replace(collate(rows, self.tokenizer.pad_id, width), kind=width)

    def _draw_pool(self, random: np.random.Generator) -> list[list[Row]]:
        """The inputs of `POOL` steps: those of like length together, the steps in any order."""
        drawn = [self.example(random) for _ in range(POOL * self.batch_size)]
        drawn.sort(key=lambda row: len(row.ids))
        return [
            drawn[step * self.batch_size : (step + 1) * self.batch_size]
            for step in random.permutation(POOL).tolist()
        ]

    @property
    def row_lengths(self) -> RowLengths:
        """Of training: for each sentence the input that starts with it, as probable as that start is."""
        sentences_D = np.diff(self.corpus.document_offsets)
        chances_D = np.diff(self._chances, prepend=0.0) / np.maximum(1, sentences_D)
        ends = np.repeat(self.tokens.document_tokens[1:], sentences_D)
        own = np.minimum(self.room, ends - self.corpus.sentence_offsets[:-1])
        return RowLengths(own, np.repeat(chances_D, sentences_D), self.batch_size)

    def example(self, random: np.random.Generator) -> Row:
        """One training input, specials included."""
        document = self.draw_document(random)
        first, last = self.corpus.document_offsets[document], self.corpus.document_offsets[document + 1]
        start = int(self.corpus.sentence_offsets[random.integers(first, last)])
        stop = min(start + self.room, int(self.tokens.document_tokens[document + 1]))
        return self._framed(self.tokens.row(start, stop))

    def draw_document(self, random: np.random.Generator) -> int:
        """A document, each in proportion to its tokens."""
        return int(np.searchsorted(self._chances, random.random(), side="right"))

    @property
    def _tiles_in_all(self) -> int:
        return int(self._tiles[-1]) if len(self._tiles) else 0

    def _tile(self, number: int) -> Row:
        document = int(np.searchsorted(self._tiles, number, side="right"))
        earlier = int(self._tiles[document - 1]) if document else 0
        start = int(self.tokens.document_tokens[document]) + (number - earlier) * self.room
        return self.tokens.row(start, min(start + self.room, int(self.tokens.document_tokens[document + 1])))

    def _framed(self, row: Row) -> Row:
        return framed(row, self.tokenizer.cls_id, self.tokenizer.sep_id)
