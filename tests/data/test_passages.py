"""Tokens that know their characters, sentence and paragraph; windows that together hold a context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quartet.data.passages import SPECIALS, Passage, read_passages, sentence_row, windows
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
TEXT = "the river. a letter\n\n   \nthe old bridge. the clock. nothing"
FIRST, SEPARATOR = 101, 102


def full_stops(paragraph: str) -> list[tuple[int, int]]:
    """Sentences end with a full stop and a blank."""
    found, start = [], 0
    for part in paragraph.split(". "):
        stop = min(start + len(part) + 1, len(paragraph))
        found.append((start, stop))
        start = stop + 1
    return found


def words(tokenizer: TextTokenizer, passage: Passage) -> list[tuple[int, int, int]]:
    """The indices of the tokens that begin a word or are a sign."""
    starts = tokenizer.word_starts(passage.row.ids)
    return [tuple(row) for row, one in zip(passage.row.segments.tolist(), starts, strict=True) if one]


def numbered(passage: Passage) -> list[tuple[int, int]]:
    """(sentence, paragraph) of each run of tokens with the same."""
    pairs = [(row[1], row[2]) for row in passage.row.segments.tolist()]
    return [pair for place, pair in enumerate(pairs) if place == 0 or pairs[place - 1] != pair]


def test_segments_by_hand(small_corpus: Small) -> None:
    tokenizer = small_corpus[0]
    (passage,) = read_passages([TEXT], tokenizer, full_stops)
    assert numbered(passage) == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)], "an empty paragraph is none"
    (whole,) = read_passages([TEXT], tokenizer, full_stops, one_paragraph=True)
    assert numbered(whole) == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]
    for one in (passage, whole):
        tokens = one.row.segments[:, 0]
        restarts = np.flatnonzero(np.diff(one.row.segments[:, 1:], axis=0).any(axis=1)) + 1
        assert tokens[0] == 0
        np.testing.assert_array_equal(tokens[restarts], 0)
        others = np.setdiff1d(np.arange(1, len(tokens)), restarts)
        np.testing.assert_array_equal(tokens[others], tokens[others - 1] + 1)
        np.testing.assert_array_equal(one.row.ids, tokenizer.encode(TEXT))


def test_a_text_without_tokens_has_none(small_corpus: Small) -> None:
    (passage,) = read_passages([" \n "], small_corpus[0], full_stops)
    assert len(passage) == 0
    assert passage.tokens_of(0, 3) is None


@given(
    text=st.text(alphabet="abcé ÀŁ½-.,'\n\t日本" + "themilrvdog", min_size=1, max_size=60),
    data=st.data(),
)
def test_the_tokens_of_an_answer_are_those_that_have_its_characters(
    small_corpus: Small, text: str, data: st.DataObject
) -> None:
    """The round trip of training and prediction: characters to tokens, and from the offsets back to characters."""
    (passage,) = read_passages([text], small_corpus[0], full_stops)
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    found = passage.tokens_of(start, stop)
    characters = passage.characters
    touched = {place for place, (low, high) in enumerate(characters.tolist()) if low < stop and high > start}
    if found is None:
        assert not touched
        return
    assert set(range(found[0], found[1] + 1)) == touched
    recovered = (int(characters[found[0], 0]), int(characters[found[1], 1]))
    outside = text[min(start, recovered[0]) : start] + text[stop : max(stop, recovered[1])]
    assert not any(map(str.isspace, outside)), "at most the rest of the words at both ends is added"
    if {start, stop} <= {int(edge) for pair in characters for edge in pair}:
        covered = set(range(*recovered)) ^ set(range(start, stop))
        assert all(text[place].isspace() for place in covered) or recovered == (start, stop)


@pytest.mark.parametrize("answer", ["old bridge", "the clock", "letter", "nothing"])
def test_a_gold_answers_tokens_give_its_text(small_corpus: Small, answer: str) -> None:
    (passage,) = read_passages([TEXT], small_corpus[0], full_stops)
    start = TEXT.index(answer)
    found = passage.tokens_of(start, start + len(answer))
    assert found is not None
    assert TEXT[passage.characters[found[0], 0] : passage.characters[found[1], 1]] == answer


def made(tokens: int) -> Passage:
    """A context of so many tokens, one character each."""
    places = np.arange(tokens)
    return Passage(sentence_row(places + 10), np.stack([places, places + 1], axis=1))


@given(
    tokens=st.integers(1, 60),
    question=st.integers(0, 6),
    max_length=st.integers(10, 40),
    stride=st.integers(1, 50),
    data=st.data(),
)
def test_windows_together_hold_the_context(
    tokens: int, question: int, max_length: int, stride: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, tokens - 1))
    last = data.draw(st.integers(first, tokens - 1))
    found = list(windows(0, np.arange(question), made(tokens), max_length, stride, (first, last)))
    room = max_length - SPECIALS - question
    assert {place for one in found for place in range(one.start, one.stop)} == set(range(tokens))
    assert all(1 <= one.stop - one.start <= room for one in found)
    assert len({(one.start, one.stop) for one in found}) == len(found)
    if last - first < room - room // 2:
        assert any(one.start <= first and last < one.stop for one in found), (
            "what is short enough is never cut"
        )
    for one in found:
        row = one.row(FIRST, SEPARATOR)
        assert len(row.ids) == len(one) <= max_length
        assert one.answer in (None, (first, last))
        assert (one.answer is None) == (not (one.start <= first and last < one.stop))
        if one.answer is not None:
            low, high = one.target
            np.testing.assert_array_equal(row.ids[low : high + 1], np.arange(first, last + 1) + 10)
        else:
            assert one.target == (0, 0)
            assert row.ids[0] == FIRST


def test_a_window_by_hand(small_corpus: Small) -> None:
    """[CLS] who ? [SEP] ... [SEP]: the question is paragraph 0, those of the context are 1 and 2."""
    tokenizer = small_corpus[0]
    text = "a. b.\nc. d"
    (passage,) = read_passages([text], tokenizer, full_stops)
    ids = np.array(tokenizer.encode("a b"))
    (one,) = windows(0, ids, passage, 40, 128)
    row = one.row(tokenizer.cls_id, tokenizer.sep_id)
    assert tokenizer.tokens(row.ids) == ["[CLS]", "a", "b", "[SEP]", *"a.b.c.d", "[SEP]"]
    assert row.segments[:, 2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    assert row.segments[:, 1].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1]
    assert row.segments[:, 0].tolist() == [0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
    (released,) = read_passages([text], tokenizer, full_stops, one_paragraph=True)
    (one,) = windows(0, ids, released, 40, 128)
    row = one.row(tokenizer.cls_id, tokenizer.sep_id)
    assert row.segments[:, 2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert row.segments[:, 1].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_a_later_window_keeps_the_indices_of_the_whole(small_corpus: Small) -> None:
    (passage,) = read_passages(["a b. c d. e f. g h"], small_corpus[0], full_stops)
    found = list(windows(0, np.zeros(0, dtype=np.int64), passage, 3 + 6, 128))
    assert [(one.start, one.stop) for one in found] == [(0, 6), (3, 9), (6, 11)]
    assert found[-1].row(FIRST, SEPARATOR).segments[2:-1, 1].tolist() == [2, 2, 2, 3, 3]
