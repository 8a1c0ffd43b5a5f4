"""How much of each test document is scored: whole sentences, as ids and as texts alike."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.tasks.perplexity.held_out import held_out_sentences, held_out_texts
from quartet.text.documents import SegmentedDocument, SegmentedParagraph
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from tests.small_corpus import corpus_of

#: Limit -> how many sentences of two tokens each are scored, of a document of four and of one of one.
SCORED = {0: (4, 1), 1: (1, 1), 2: (1, 1), 3: (2, 1), 4: (2, 1), 5: (3, 1), 8: (4, 1), 99: (4, 1)}
WORDS = ["it rains", "she slept", "he left", "they sang"]


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return train_tokenizer("word", WORDS * 3, 100, lowercase=True)


@pytest.mark.parametrize("limit", SCORED)
def test_a_document_is_scored_up_to_the_sentence_that_reaches_the_limit(
    limit: int, tokenizer: TextTokenizer
) -> None:
    first, second = SCORED[limit]
    encoded = [tokenizer.encode(text) for text in WORDS]
    corpus = corpus_of([[encoded[:1], encoded[1:]], [encoded[2:3]]])
    found = held_out_sentences(corpus, limit)
    assert [ids.tolist() for ids in found.ids] == [*encoded[:first], encoded[2]]
    assert found.documents == [0] * first + [1] * second
    assert found.words == [2] * (first + second)
    values = [np.arange(2.0 * first), np.arange(2.0)]
    assert [each.tolist() for each in found.split(values)][-2:] == [
        [2.0 * first - 2, 2.0 * first - 1],
        [0.0, 1.0],
    ]


@pytest.mark.parametrize("limit", SCORED)
def test_texts_are_the_same_sentences_and_what_has_no_token_is_none(
    limit: int, tokenizer: TextTokenizer
) -> None:
    first, second = SCORED[limit]
    documents = [
        SegmentedDocument(
            "a", "A", (SegmentedParagraph(("\u200b", *WORDS[:2])), SegmentedParagraph(tuple(WORDS[2:])))
        ),
        SegmentedDocument("b", "B", (SegmentedParagraph((WORDS[2], "\u200b")),)),
    ]
    found = held_out_texts(documents, tokenizer, limit)
    assert found.texts == [*WORDS[:first], WORDS[2]]
    assert found.documents == [0] * first + [1] * second
    assert found.words == [2] * (first + second)
