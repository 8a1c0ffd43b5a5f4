"""Entailment: which pairs are tuned on and judged; accuracy over pairs, its interval over premises, two labels."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.config.finetuning import NliSettings
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import NliSets, accuracy, nli_sets


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


PAIRS = [NliPair("it rains", f"word {number}", LABELS[number % 3]) for number in range(60)]


def drawn(seed: int, limit: int = 20) -> NliSets:
    settings = NliSettings(
        sets=["snli", "gone"], epochs=1, batch_size=8, learning_rate=1e-3, warmup=0.1, limit=limit, max_length=8,
        random_control=False,
    )  # fmt: skip
    found = {"hans": {"test": PAIRS[:3]}, "snli": {"train": PAIRS, "dev": PAIRS[:5]}}
    return nli_sets(Evaluation("made-up", "nli", samples=50, seed=seed), found, settings)


def test_a_limit_is_drawn_of_all_pairs_with_the_seed_of_the_run() -> None:
    first, other = drawn(1), drawn(2)
    assert first == drawn(1) and first.train != other.train
    for one in (first, other):
        places = [PAIRS.index(pair) for pair in one.train]
        assert len(places) == 20
        assert places == sorted(set(places))
        assert places[-1] > 40, "not the first ones"
    assert first.scale == "20 of 60 pairs of snli"


@pytest.mark.parametrize("limit", [0, 60, 61])
def test_without_a_limit_or_with_a_higher_one_every_pair_is_trained_on(limit: int) -> None:
    found = drawn(1, limit)
    assert (found.train, found.scale) == (PAIRS, "60 pairs of snli")
    assert len(drawn(1, 59).train) == 59


def test_every_file_but_those_to_train_on_is_judged() -> None:
    judged = [(name, split, len(pairs)) for name, split, pairs in drawn(1).judged]
    assert judged == [("hans", "test", 3), ("snli", "dev", 5)]
