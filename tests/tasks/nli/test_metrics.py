"""Entailment: accuracy over pairs, its interval over premises, and two labels."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import accuracy


def test_the_share_of_right_labels() -> None:
    pairs = [NliPair(f"p{index // 3}", "h", LABELS[index % 3]) for index in range(30)]
    said = [pair.label for pair in pairs]
    said[:6] = ["neutral"] * 6
    found = accuracy(pairs, said, 500, 1)
    assert found.value == pytest.approx(26 / 30)
    assert found.n == 30
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < found.value < found.ci_high
    with pytest.raises(ValueError, match="30 pairs and 29 predictions"):
        accuracy(pairs, said[1:], 500, 1)


def test_pairs_of_one_premise_are_drawn_together() -> None:
    """Right or wrong by premise: there are as many independent items as premises, and the interval is as wide."""
    right = np.random.default_rng(0).random(60) < 0.5

    def judge(copies: int) -> float:
        pairs = [NliPair(f"p{index}", f"h{copy}", "neutral") for index in range(60) for copy in range(copies)]
        said = ["neutral" if right[index] else "entailment" for index in range(60) for _ in range(copies)]
        found = accuracy(pairs, said, 2000, 1)
        assert found.ci_low is not None
        assert found.ci_high is not None
        return found.ci_high - found.ci_low

    assert judge(5) == pytest.approx(judge(1), abs=0.02)
    assert judge(1) > 0.2


def test_neutral_and_contradiction_are_no_entailment() -> None:
    pairs = [NliPair("a", "b", "non-entailment")] * 2 + [NliPair("c", "d", "entailment")] * 2
    assert accuracy(pairs, ["neutral", "contradiction", "entailment", "neutral"], 100, 1).value == 0.75
