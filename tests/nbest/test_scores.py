"""Each distinct text is scored once, and an empty hypothesis gains nothing by being empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quartet.nbest.rerank import Candidates
from quartet.nbest.scores import has_words, score_lists, score_texts
from tests.nbest.lists import nbest


def test_texts_are_scored_once_and_scores_return_to_their_places() -> None:
    lists = [
        nbest("u", None, ("bb", -1.0), ("a", -2.0), ("bb", -3.0)),
        nbest("v", None, ("ccc", -1.0), ("a", -1.5)),
    ]
    asked: list[list[str]] = []

    def score(texts: list[str]) -> list[float]:
        asked.append(texts)
        return [-float(len(text)) for text in texts]

    found = score_lists(lists, score)
    assert asked == [["bb", "a", "ccc"]]
    assert [each.tolist() for each in found] == [[-2.0, -1.0, -2.0], [-3.0, -1.0]]


def test_an_empty_hypothesis_never_wins_by_being_empty() -> None:
    lists = [nbest("u", "a b", ("", -1.0), ("a b", -2.0), ("a c", -3.0)), nbest("v", "a", ("", -1.0))]
    found = score_lists(lists, lambda texts: [-7.0 * len(text.split()) for text in texts])
    assert found[0][0] < -14.0
    assert found[0][0] == pytest.approx(-14.0)
    assert found[1].tolist() == [0.0]  # nothing else is in the list
    assert Candidates(lists, found).select(1.0).chosen.tolist() == [1, 0]


@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_what_is_held_down_is_below_by_one_float64_whatever_the_scorer_gives(kind: type) -> None:
    lists = [nbest("u", None, ("", -1.0), ("a", -2.0))]
    given: Any = np.array([0, -3], dtype=kind)
    (found,) = score_lists(lists, lambda texts: given)
    assert found.dtype == np.float64
    assert found.tolist() == [-3.0000000000000004, -3.0]


def test_a_low_score_of_an_empty_hypothesis_stays() -> None:
    lists = [nbest("u", None, ("", -1.0), ("a", -2.0))]
    found = score_lists(lists, lambda texts: [-50.0 if not text else -3.0 for text in texts])
    assert found[0].tolist() == [-50.0, -3.0]


@pytest.mark.parametrize("text", ["", " ", "\u00a0", "\u200b", "\x00\x1b", "\u0301", "\ufeff \u2028"])
def test_a_text_that_tokenizers_empty_counts_as_empty(text: str) -> None:
    assert not has_words(text)
    lists = [nbest("u", "a b", (text, -1.0), ("a b", -2.0)), nbest("v", None, (text, -1.0), ("", -2.0))]
    found = score_lists(lists, lambda texts: [-7.0 * ("a" in each) for each in texts])
    assert found[0][0] < found[0][1] == -7.0
    assert found[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("text", ["a", "...", "é", "€", " 1"])
def test_a_text_with_a_sign_to_read_is_not_empty(text: str) -> None:
    assert has_words(text)


def test_a_score_above_0_of_nothing_is_held_down() -> None:
    lists = [nbest("u", None, ("", -1.0)), nbest("v", None, ("", 0.0), ("a", -1.0))]
    found = score_lists(lists, lambda texts: [2.0, 3.0])
    assert found[0].tolist() == [0.0]
    assert found[1].tolist() == [0.0, 3.0]


def test_texts_are_scored_by_sum_or_mean() -> None:
    def token_logprobs(texts: list[str]) -> list[np.ndarray]:
        return [np.full(len(text), -2.0) for text in texts]

    texts = ["ccc", "", "a"]
    assert score_texts(token_logprobs, "sum")(texts) == [-6.0, 0.0, -2.0]
    assert score_texts(token_logprobs, "mean")(texts) == [-2.0, 0.0, -2.0]


@pytest.mark.parametrize("answer", [[float("nan"), 0.0], [0.0, float("-inf")], [0.0], [[0.0, 0.0]]])
def test_a_broken_scorer_is_refused(answer: list[float]) -> None:
    with pytest.raises(ValueError, match="the scorer gave"):
        score_lists([nbest("u", None, ("a", -1.0), ("b", -2.0))], lambda texts: answer)
