"""Normalisation treats both sides alike and leaves scores and order alone; counts say what a set holds."""

from __future__ import annotations

import doctest

import pytest

from quartet.nbest import normalise
from quartet.nbest.counts import count
from quartet.nbest.normalise import Normalisation
from tests.nbest.lists import SMALL, lists_of, nbest


@pytest.mark.parametrize(
    ("lowercase", "strip", "text", "expected"),
    [
        (False, False, "  It's\ta  TEST. ", "It's a TEST."),
        (True, False, "It's ÉTÉ.", "it's été."),
        (False, True, "It's, well-known: 'Tis the dogs' 3.5!", "It's well known Tis the dogs 3 5"),
        (False, True, "don’t “quote” — me…", "don't quote me"),
        (False, True, "a_b costs $3 + 5°", "a b costs $3 + 5°"),
        (True, True, "--- ...", ""),
    ],
)
def test_texts(lowercase: bool, strip: bool, text: str, expected: str) -> None:
    setting = Normalisation(lowercase, strip)
    assert setting.text(text) == expected
    assert setting.text(setting.text(text)) == expected


def test_lists_change_in_hypotheses_and_reference_alike() -> None:
    one = nbest("u", "A, b.", ("a B!", -1.0), ("A b", -2.0))
    (out,) = Normalisation(lowercase=True, strip_punctuation=True).lists([one])
    assert out == nbest("u", "a b", ("a b", -1.0), ("a b", -2.0))
    (missing,) = Normalisation(lowercase=True).lists([nbest("u", None, ("A", -1.0))])
    assert missing.reference is None


def test_counts_of_a_set() -> None:
    assert count(lists_of("mlm-scoring", SMALL)) == {
        "lists": 4,
        "hypotheses": 8,
        "distinct_texts": 7,
        "longest_list": 3,
        "empty_hypotheses": 2,
        "lists_without_scores": 0,
        "missing_references": 1,
        "empty_references": 1,
        "reference_words": 9,
    }


def test_the_worked_example() -> None:
    assert doctest.testmod(normalise).failed == 0
