"""Our Punkt is NLTK's: the same spans, faster, without its growing table and its time limit."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import redos
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from quartet.text import punkt
from quartet.text.punkt import Punkt

WORDS = [
    *(
        "Mr.",
        "Hale",
        "the",
        "The",
        "3.",
        "-4.5.",
        "J.",
        "...",
        ". . .",
        "..",
        "e.g.",
        "etc.",
        ")",
        '"',
        "what?",
    ),
    *(
        "No!",
        "mill",
        "Mill.",
        "mill.",
        "İ.",
        "ß.",
        "٣.",
        "--",
        "“",
        "”",
        "'tis",
        "U.S.",
        "\u2028",
        "!?",
        "x.y.",
    ),
]


def parameters() -> Any:
    """Some of each thing that Punkt can learn."""
    known = PunktParameters()
    known.abbrev_types |= {"mr", "e.g", "etc", "u.s"}
    known.collocations |= {("3", "mill"), ("##number##", "hale")}
    known.sent_starters |= {"the", "what?"}
    for number, word in enumerate(["the", "mill", "hale", "no", "'tis"]):
        known.add_ortho_context(word, 2 << number)
    return known


PARAMETERS = parameters()
OURS, THEIRS = Punkt(PARAMETERS), PunktSentenceTokenizer(parameters())

texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=25).flatmap(
    lambda words: st.sampled_from([" ", "  ", "\n", ""]).map(lambda blank: blank.join(words))
)


@given(texts)
def test_spans_are_those_of_nltk(text: str) -> None:
    expected = list(THEIRS.span_tokenize(text))
    assert list(OURS.span_tokenize(text)) == expected
    assert list(OURS.span_tokenize(text)) == expected, "what is remembered is what was found"


def test_it_cuts_the_same_in_another_process() -> None:
    text = "It is Mr. Hale. He saw 3. mill it was. J. Mill. The end."
    sent: Punkt = pickle.loads(pickle.dumps(OURS))
    assert list(sent.span_tokenize(text)) == list(THEIRS.span_tokenize(text))
    assert len(list(sent.span_tokenize(text))) > 2


def test_words_that_it_does_not_know_leave_no_trace() -> None:
    ours = Punkt(PARAMETERS)
    before = len(ours._params.ortho_context), len(PARAMETERS.ortho_context)
    text = " ".join(f"Mr. Somebody{number} left." for number in range(300))
    assert len(list(ours.span_tokenize(text))) == 300
    assert (len(ours._params.ortho_context), len(PARAMETERS.ortho_context)) == before
    theirs = PunktSentenceTokenizer(parameters())
    list(theirs.span_tokenize(text))
    assert len(theirs._params.ortho_context) > before[0] + 200, (
        "NLTK's does grow: else this class can be simpler"
    )


def test_long_contexts_are_not_remembered() -> None:
    ours = Punkt(PARAMETERS)
    list(ours.span_tokenize(f"{'x' * punkt.LONGEST}. The end is near. It is."))
    assert ours._remembered.cache_info().currsize == 1


def test_a_long_paragraph_has_all_the_time_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "She left. " * 3000
    expected = list(OURS.span_tokenize(text))  # and its decisions are remembered
    monkeypatch.setattr(redos, "DEFAULT_TIMEOUT", 0.01)
    with pytest.raises(TimeoutError):
        list(THEIRS.span_tokenize(text))
    assert list(OURS.span_tokenize(text)) == expected


def test_decisions_on_short_contexts_alone_are_kept() -> None:
    tokenizer = Punkt(parameters())
    longest = "mill. ".ljust(punkt.LONGEST, "x")
    for text, kept in ((longest, 1), (longest, 1), (f"{longest}x", 1), ("Mr. Hale", 2)):
        tokenizer.text_contains_sentbreak(text)
        assert tokenizer._remembered.cache_info().currsize == kept
    assert tokenizer._remembered.cache_info().hits == 1
