"""Document spans as two halves, [CLS] A [SEP] B [SEP]: what the released SegaBERT trains on in place of the paper's."""

from __future__ import annotations

import numpy as np

from quartet.data.batch import Row, RowLengths
from quartet.data.spans import SpanSource
from quartet.errors import InputError
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer

#: Share of the examples that are gathered for a shorter length, drawn evenly from 2 to the maximum.
SHORT_SEQUENCES = 0.01

#: Inputs that tell how long one is in the mean, to about 1 %.
TYPICAL = 2048

#: Draws of a span before one of two sentences is taken at all events.
DRAWS = 100


class ReleasedSpanSource(SpanSource):
    """Training inputs as the code released with Bai et al. 2021 makes them.

    1. A length is wanted: `max_length`, or for 1 % of the examples one from 2 to `max_length`.
    2. A document is drawn in proportion to its length, and one of its sentences as the start; whole sentences are
       added until their tokens reach the wanted length or the document ends.
    3. The n sentences are split after 0 to n of them. Where a half is empty, and so always for n = 1, the span is
       thrown away and drawn anew. So spans of many sentences are a little more frequent than in the paper, and a
       sentence that ends its document is never the start.
    4. While both halves together have more than `max_length` - 3 tokens, the longer (B if they are equal) loses its
       first or its last token, with even chances.
    5. [CLS] has the indices of the first token of A; each [SEP] those of the token before it, its token index plus 1.

    Example: the document of :class:`SpanSource`, ``a b c | d e`` and ``f g | h``, with a `max_length` of 9, started at
    its first sentence and split after its second. 8 tokens are 2 too many; A loses both, here one at either end:

    =========  =====  =  =  =  =====  =  =  =  =====
    input      [CLS]  b  c  d  [SEP]  f  g  h  [SEP]
    =========  =====  =  =  =  =====  =  =  =  =====
    token      1      1  2  0  1      0  1  0  1
    sentence   0      0  0  1  1      0  0  1  1
    paragraph  0      0  0  0  0      1  1  1  1
    =========  =====  =  =  =  =====  =  =  =  =====

    Ours are: a document's length is its tokens (there, its characters); after `DRAWS` spans thrown away, which a short
    length can need, a document of two sentences or more is taken, and two of its neighbouring sentences (there, drawing
    goes on for ever); draws depend on the seed and the step (there, on the example's number). Tokens have no type, as
    there all have the same one. Evaluation reads the paper's tiles, so that losses compare.

    Raises:
        InputError: no document has two sentences, or `max_length` has no room for both halves.
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
        super().__init__(corpus, tokenizer, max_length=max_length, batch_size=batch_size, seed=seed)
        self.max_length = max_length
        #: documents of two sentences or more
        self._divisible = np.flatnonzero(np.diff(corpus.document_offsets) > 1)
        if max_length < 5:
            raise InputError(
                "max_length", f"{max_length} has no room for [CLS] A [SEP] B [SEP]", "take 5 or more"
            )
        if not len(self._divisible) and seed is not None:
            raise InputError(
                "spans.form", "released splits documents, and none has two sentences", "take paper"
            )

    @property
    def row_lengths(self) -> RowLengths:
        """Of `TYPICAL` inputs drawn with a seed of their own: what is thrown away leaves no formula."""
        random = np.random.default_rng(TYPICAL)
        own = np.array([len(self.example(random).ids) - 3 for _ in range(TYPICAL)])
        return RowLengths(own, np.full(TYPICAL, 1 / TYPICAL), self.batch_size, specials=3)

    def example(self, random: np.random.Generator) -> Row:
        """One training input, specials included."""
        start, middle, stop = self._draw(random)
        whole = self.tokens.row(start, stop)
        split = middle - start
        a = Row(whole.ids[:split], whole.segments[:split])
        b = Row(whole.ids[split:], whole.segments[split:])
        kept_a, kept_b = kept_lengths(len(a.ids), len(b.ids), self.max_length - 3)
        a, b = _shortened(a, kept_a, random), _shortened(b, kept_b, random)
        return join_spans(a, b, self.tokenizer.cls_id, self.tokenizer.sep_id)

    def _draw(self, random: np.random.Generator) -> tuple[int, int, int]:
        """The first token of A, the first of B, and the end of B."""
        offsets = self.corpus.sentence_offsets
        wanted = self.max_length
        if random.random() < SHORT_SEQUENCES:
            wanted = int(random.integers(2, self.max_length, endpoint=True))
        for _ in range(DRAWS):
            first, last = self._sentences(self.draw_document(random))
            start = int(random.integers(first, last))
            ends = offsets[start + 1 : last + 1]
            count = min(int(np.searchsorted(ends, offsets[start] + wanted)) + 1, last - start)
            split = int(random.integers(0, count, endpoint=True))
            if 0 < split < count:
                return int(offsets[start]), int(offsets[start + split]), int(offsets[start + count])
        first, last = self._sentences(int(random.choice(self._divisible)))
        start = int(random.integers(first, last - 1))
        return int(offsets[start]), int(offsets[start + 1]), int(offsets[start + 2])

    def _sentences(self, document: int) -> tuple[int, int]:
        """The numbers of a document's first sentence, and of that after its last."""
        return int(self.corpus.document_offsets[document]), int(self.corpus.document_offsets[document + 1])


def kept_lengths(a: int, b: int, room: int) -> tuple[int, int]:
    """How many of `a` and `b` tokens are left when the longer gives up one after the other (B first if they are equal).

    >>> kept_lengths(5, 3, 6), kept_lengths(9, 2, 6), kept_lengths(9, 9, 7), kept_lengths(2, 3, 6)
    ((3, 3), (4, 2), (4, 3), (2, 3))
    """
    if a + b <= room:
        return a, b
    kept_b = min(b, max(room - a, room // 2))
    return room - kept_b, kept_b


def _shortened(row: Row, length: int, random: np.random.Generator) -> Row:
    """Take tokens away until `length` are left, each from the front or the back with even chances."""
    front = int(random.binomial(len(row.ids) - length, 0.5))
    return Row(row.ids[front : front + length], row.segments[front : front + length])


def join_spans(a: Row, b: Row, cls: int, sep: int) -> Row:
    """[CLS] A [SEP] B [SEP] of two rows that have tokens, with the specials' indices of :class:`ReleasedSpanSource`."""
    one_on = np.array([1, 0, 0])
    ids = [np.array([cls]), a.ids, np.array([sep]), b.ids, np.array([sep])]
    segments = [a.segments[:1], a.segments, a.segments[-1:] + one_on, b.segments, b.segments[-1:] + one_on]
    return Row(np.concatenate(ids).astype(np.int64), np.concatenate(segments).astype(np.int64))
