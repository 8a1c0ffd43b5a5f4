"""Perplexities of references: hand-counted, over own tokens alone, and what is not there counts in none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quartet.tasks.rerank.metrics import reference_measures, references_of
from tests.nbest.lists import Words, nbest

#: By reference, the probabilities of its tokens, which are more than its words.
PROBABILITIES = {"well read": [0.5, 0.25, 0.125], "cat": [0.5], "": []}
LISTS = [
    nbest("u1", "well read", ("well red", -1.0)),
    nbest("u2", None, ("cat", -1.0)),
    nbest("u3", "", ("cat", -1.0)),
    nbest("u4", "cat", ("cat", -1.0)),
    nbest("u5", "cat", ("car", -1.0)),
]


def logprobs(texts: list[str]) -> list[np.ndarray]:
    return [np.log(np.array(PROBABILITIES[text])) for text in texts]


def test_every_figure_by_hand() -> None:
    found = reference_measures(LISTS, logprobs, pseudo=True, samples=200, seed=1)
    bits = 6 + 1 + 1  # of 5 tokens in 4 words of 3 references
    expected = {
        "pppl": (5, 2 ** (bits / 5)),
        "pppl-mean": (3, (2**2 + 2 + 2) / 3),
        "pppl-median": (3, 2.0),
        "pppl-word": (4, 2 ** (bits / 4)),
        "pppl-word-mean": (3, (2**3 + 2 + 2) / 3),
        "pppl-word-median": (3, 2.0),
    }
    assert set(found) == set(expected)
    for name, measure in found.items():
        assert (measure.n, measure.value) == pytest.approx(expected[name]), name
        assert measure.ci_low is None, "of three references"
    more = reference_measures(LISTS * 4, logprobs, pseudo=True, samples=200, seed=1)
    for name in expected.keys() - {"pppl-median", "pppl-word-median"}:
        measure = more[name]
        assert measure.ci_low is not None and measure.ci_high is not None
        assert measure.ci_low <= measure.value <= measure.ci_high


def test_the_closing_token_of_a_causal_model_is_left_out() -> None:
    def closed(texts: list[str]) -> list[np.ndarray]:
        return [np.append(values, -9.0) for values in logprobs(texts)]

    pseudo = reference_measures(LISTS, logprobs, True, 50, 1)
    causal = reference_measures(LISTS, closed, False, 50, 1)
    assert {f"p{name}": measure for name, measure in causal.items()} == pseudo


def test_nothing_to_measure_is_no_figure() -> None:
    assert reference_measures([LISTS[1], LISTS[2]], logprobs, True, 50, 1) == {}
    assert reference_measures([LISTS[1], LISTS[2]], Words(pseudo=False).token_logprobs, False, 50, 1) == {}


def test_each_reference_counts_as_often_as_it_was_said() -> None:
    assert references_of(LISTS) == ["well read", "", "cat", "cat"]


def test_a_text_without_spaces_has_no_figure_a_word_that_a_float_cannot_hold() -> None:
    lists = [
        nbest("u1", "x" * 200, ("x", -1.0)),
        nbest("u2", "y", ("x", -1.0)),
        nbest("u3", "y", ("x", -1.0)),
    ]
    found = reference_measures(lists, lambda texts: [np.full(len(text), -5.0) for text in texts], True, 50, 1)
    assert set(found) == {"pppl", "pppl-mean", "pppl-median", "pppl-word", "pppl-word-median"}
    assert found["pppl-word-median"].value == pytest.approx(math.exp(5))
    assert found["pppl-word-median"].n == 3
