"""The test tokens that perplexity is measured on: the same for every model and for the unigram baseline.

As token ids of an encoded corpus, or as texts, for what has a vocabulary of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quartet.text.documents import SegmentedDocument
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.scripts import count_words
from quartet.text.tokenizer import TextTokenizer


@dataclass(frozen=True)
class HeldOutTokens:
    """The sentences at the beginning of each test document.

    Attributes:
        ids: token ids of each sentence.
        words: words of each.
        documents: the number of the document that each belongs to.
    """

    ids: list[np.ndarray]
    words: list[int]
    documents: list[int]

    def split(self, documents: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Values of each document's tokens, sentence by sentence."""
        values = np.concatenate(list(documents))
        ends = np.cumsum([len(ids) for ids in self.ids])
        assert len(values) == ends[-1], "the model was read on other tokens"
        return list(np.split(values, ends[:-1]))


def held_out_sentences(corpus: EncodedCorpus, tokens_per_document: int) -> HeldOutTokens:
    """Each document's sentences up to the one that reaches so many tokens (0: all)."""
    chosen: list[int] = []
    documents: list[int] = []
    for document, (first, last) in enumerate(
        zip(corpus.document_offsets, corpus.document_offsets[1:], strict=False)
    ):
        start = corpus.sentence_offsets[first]
        for sentence in range(int(first), int(last)):
            if tokens_per_document and corpus.sentence_offsets[sentence] - start >= tokens_per_document:
                break
            chosen.append(sentence)
            documents.append(document)
    return HeldOutTokens(
        ids=[np.asarray(corpus.sentence(sentence), dtype=np.int64) for sentence in chosen],
        words=[int(corpus.sentence_words[sentence]) for sentence in chosen],
        documents=documents,
    )


@dataclass(frozen=True)
class HeldOutTexts:
    """The sentences at the beginning of each test document.

    Attributes:
        texts: the sentences.
        words: white-space words of each.
        documents: the number of the document that each belongs to.
    """

    texts: list[str]
    words: list[int]
    documents: list[int]


def held_out_texts(
    documents: Iterable[SegmentedDocument], tokenizer: TextTokenizer, tokens_per_document: int
) -> HeldOutTexts:
    """Each document's sentences up to the one that reaches so many tokens of the tokenizer (0: all)."""
    found = HeldOutTexts([], [], [])
    for number, document in enumerate(documents):
        sentences = list(document.sentences)
        read = 0
        for sentence, ids in zip(sentences, tokenizer.encode_batch(sentences), strict=True):
            if tokens_per_document and read >= tokens_per_document:
                break
            if not ids:
                continue
            read += len(ids)
            found.texts.append(sentence)
            found.words.append(count_words(sentence))
            found.documents.append(number)
    return found
