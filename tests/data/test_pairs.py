"""Pairs as inputs: which token has which indices, and what is cut where they do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quartet.data.pairs import longest_first, pair_inputs
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def step_by_step(first: int, second: int, room: int) -> tuple[int, int]:
    """One token at a time, as BERT's own code does it."""
    while first + second > room:
        if first > second:
            first -= 1
        else:
            second -= 1
    return first, second


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 50))
def test_the_longer_text_is_cut_first(first: int, second: int, room: int) -> None:
    assert longest_first(first, second, room) == step_by_step(first, second, room)


def test_a_pair_by_hand(small_corpus: Small) -> None:
    """[CLS] the miller [SEP] a letter. the river. [SEP]: two paragraphs of one sentence, whatever stops are in them."""
    tokenizer, _ = small_corpus
    first, second = tokenizer.encode("the miller"), tokenizer.encode("a letter. the river.")
    (found,) = pair_inputs(tokenizer, "spans", ["the miller"], ["a letter. the river."], 60)
    cls, sep = tokenizer.cls_id, tokenizer.sep_id
    assert found.row.ids.tolist() == [cls, *first, sep, *second, sep]
    m, n = len(first), len(second)
    assert found.row.segments[:, 0].tolist() == [0, *range(m), m - 1, *range(n), n - 1]
    assert found.row.segments[:, 1].tolist() == [0] * (m + n + 3)
    assert found.row.segments[:, 2].tolist() == [0] * (m + 2) + [1] * (n + 1)
    assert found.cut == 0


def test_single_texts_and_the_specials_of_models_that_read_sentences(small_corpus: Small) -> None:
    tokenizer, _ = small_corpus
    ids = tokenizer.encode("the river")
    (single,) = pair_inputs(tokenizer, "sentences", ["the river"], None, 60)
    assert single.row.ids.tolist() == [tokenizer.bos_id, *ids, tokenizer.eos_id]
    assert single.row.segments[:, 2].tolist() == [0] * (len(ids) + 2)
    (empty,) = pair_inputs(tokenizer, "spans", ["the river"], [""], 60)
    assert empty.row.ids.tolist() == [tokenizer.cls_id, *ids, tokenizer.sep_id, tokenizer.sep_id]


def test_what_does_not_fit_is_cut_and_counted(small_corpus: Small) -> None:
    tokenizer, _ = small_corpus
    long, short = "the river " * 10, "a letter"
    sizes = len(tokenizer.encode(long)), len(tokenizer.encode(short))
    found = pair_inputs(tokenizer, "spans", [long, short], [short, short], 12)
    assert len(found[0].row.ids) == 12
    assert found[0].cut == sum(sizes) - 9
    assert found[0].row.ids.tolist()[-1 - sizes[1] : -1] == tokenizer.encode(short)
    assert found[1].cut == max(0, 2 * sizes[1] - 9)
    with pytest.raises(ValueError, match="of 3 tokens"):
        pair_inputs(tokenizer, "spans", [short], [short], 3)
    with pytest.raises(ValueError, match="reads streams"):
        pair_inputs(tokenizer, "streams", [short], [short], 30)
