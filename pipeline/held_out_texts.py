"""The test sentences that perplexity is measured on, as text: those that pipeline/held_out.py gives to the models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quartet.text.documents import SegmentedDocument
from quartet.text.tokenizer import TextTokenizer


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
            found.words.append(len(sentence.split()))
            found.documents.append(number)
    return found
