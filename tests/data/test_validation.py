"""What a validation of few batches reads: some of every document."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.config.model import ModelConfig
from quartet.data import open_source
from quartet.data.validation import beginnings, validation_source
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from tests.models.shapes import VARIANTS, small
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def documents(sizes: list[int]) -> EncodedCorpus:
    """Documents of so many sentences of 3 tokens; the first token of each says whose it is, from 10 on."""
    return corpus_of([[[[10 + number, 90, 91]] * size] for number, size in enumerate(sizes)])


def owners(corpus: EncodedCorpus) -> list[int]:
    """Sentences of each document that is left, by its number."""
    own = [int(corpus.sentence(number)[0]) - 10 for number in range(len(corpus))]
    return [own.count(number) for number in range(max(own) + 1)]


def test_each_document_gives_the_same_share() -> None:
    corpus = documents([20, 200, 40])
    part = beginnings(corpus, 0.1)
    assert owners(part) == [2, 20, 4]
    assert part.document_offsets.tolist() == [0, 2, 22, 26]
    assert part.doc_ids == corpus.doc_ids
    assert part.sentence_offsets.tolist() == list(range(0, 79, 3))
    whole = beginnings(corpus, 1.0)
    assert np.array_equal(whole.ids, corpus.ids[:])
    assert np.array_equal(whole.sentence_paragraphs, corpus.sentence_paragraphs)


def test_of_short_documents_every_so_many_give_a_sentence() -> None:
    part = beginnings(documents([1] * 40), 0.1)
    assert [one for one, count in enumerate(owners(part)) if count] == [0, 10, 20, 30]
    assert len(part.doc_ids) == 4


@pytest.mark.parametrize("kind", ["tta", "segabert", "transformer-xl"])
def test_few_batches_are_of_all_documents_and_about_as_many_as_asked_for(
    small_corpus: Small, kind: str
) -> None:
    tokenizer = small_corpus[0]
    corpus = documents([60, 10, 120, 30])
    model: ModelConfig = small(**VARIANTS[kind])
    whole = open_source(model, corpus, tokenizer, batch_size=2, seed=None)
    every = whole.steps_per_epoch
    source = validation_source(model, corpus, tokenizer, batch_size=2, batches=every // 4)
    assert 1 <= source.steps_per_epoch <= every // 4 + 3
    read = {
        token
        for step in range(source.steps_per_epoch)
        for token in source.batch(step).ids_BT.flatten().tolist()
        if len(SPECIALS) <= token < 90
    }
    assert read == {10, 11, 12, 13}
    for batches in (0, every, every + 1):
        same = validation_source(model, corpus, tokenizer, batch_size=2, batches=batches)
        assert same.steps_per_epoch == every
