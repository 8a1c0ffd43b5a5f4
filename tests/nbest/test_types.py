"""The invariants of a list: best first, all scored or none."""

from __future__ import annotations

import doctest

import pytest

from quartet.nbest import types
from quartet.nbest.types import Hypothesis, NBest
from tests.nbest.lists import nbest


def test_a_list_is_kept_best_first_whatever_the_order_given() -> None:
    one = nbest("u", "r", ("b", -2.0), ("a", -1.0), ("c", -3.0))
    other = nbest("u", "r", ("c", -3.0), ("b", -2.0), ("a", -1.0))
    assert [hypothesis.text for hypothesis in one.hypotheses] == ["a", "b", "c"]
    assert one == other
    assert one.first_pass == [-1.0, -2.0, -3.0]


def test_equal_scores_keep_their_order() -> None:
    one = nbest("u", None, ("x", -2.0), ("first", -1.0), ("second", -1.0))
    assert [hypothesis.text for hypothesis in one.hypotheses] == ["first", "second", "x"]


def test_the_rank_stands_for_missing_scores() -> None:
    one = nbest("u", None, ("x", None), ("y", None), ("z", None))
    assert one.ranked_only
    assert one.first_pass == [0.0, -1.0, -2.0]
    assert str(one.first_pass[0]) == "0.0"  # not -0.0, which a file would show


def test_the_first_hypotheses_are_the_best_ones() -> None:
    one = nbest("u", "r", ("b", -2.0), ("a", -1.0), ("c", -3.0))
    assert one.first(2) == nbest("u", "r", ("a", -1.0), ("b", -2.0))
    assert one.first(None) == one.first(3) == one.first(9) == one
    assert nbest("u", None, ("x", None), ("y", None)).first(1) == nbest("u", None, ("x", None))


@pytest.mark.parametrize(
    "hypotheses", [(), (Hypothesis("a", -1.0), Hypothesis("b")), (Hypothesis("a"), Hypothesis("b", -1.0))]
)
def test_impossible_lists_are_refused(hypotheses: tuple[Hypothesis, ...]) -> None:
    with pytest.raises(ValueError, match="u1"):
        NBest("u1", hypotheses)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_is_finite(score: float) -> None:
    with pytest.raises(ValueError, match="score"):
        Hypothesis("a", score)


def test_the_worked_example() -> None:
    assert doctest.testmod(types).failed == 0
