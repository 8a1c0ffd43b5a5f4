"""Where each token of a corpus stands: token in sentence, sentence in paragraph, paragraph in document."""

from __future__ import annotations

import numpy as np

from quartet.data.batch import Row
from quartet.text.encoded_corpus import EncodedCorpus


def _restart(starts: np.ndarray) -> np.ndarray:
    """Count items from 0 at each start."""
    first = np.flatnonzero(starts)
    counted: np.ndarray = np.arange(len(starts)) - first[np.cumsum(starts) - 1]
    return counted


def sentence_in_paragraph(corpus: EncodedCorpus) -> np.ndarray:
    """(S,) index of each sentence in its paragraph, from 0."""
    count = len(corpus)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    starts = np.zeros(count, dtype=bool)
    starts[corpus.document_offsets[:-1]] = True
    starts[1:] |= corpus.sentence_paragraphs[1:] != corpus.sentence_paragraphs[:-1]
    starts[0] = True
    return _restart(starts)


class SegmentedTokens:
    """Tokens of an encoded corpus with their segment indices, by document and token range."""

    def __init__(self, corpus: EncodedCorpus) -> None:
        self.corpus = corpus
        self.sentences = sentence_in_paragraph(corpus)
        #: first token of each document, and the end of the last: (D + 1,)
        self.document_tokens = corpus.sentence_offsets[corpus.document_offsets]

    def row(self, start: int, stop: int) -> Row:
        """Tokens start..stop (counted over the corpus) with their indices."""
        offsets = self.corpus.sentence_offsets
        places = np.arange(start, stop)
        sentence = np.searchsorted(offsets, places, side="right") - 1
        segments = np.stack(
            [places - offsets[sentence], self.sentences[sentence], self.corpus.sentence_paragraphs[sentence]],
            axis=1,
        )
        return Row(np.asarray(self.corpus.ids[start:stop], dtype=np.int64), segments.astype(np.int64))

    def document(self, index: int, limit: int = 0) -> Row:
        """A whole document, or (with a limit) its first sentences up to the one that reaches `limit` tokens."""
        first, last = self.corpus.document_offsets[index], self.corpus.document_offsets[index + 1]
        ends = self.corpus.sentence_offsets[first + 1 : last + 1]
        start = int(self.corpus.sentence_offsets[first])
        if len(ends) == 0:
            return self.row(start, start)
        stop = int(ends[-1])
        if limit and stop - start > limit:
            stop = int(ends[np.searchsorted(ends, start + limit)])
        return self.row(start, stop)
