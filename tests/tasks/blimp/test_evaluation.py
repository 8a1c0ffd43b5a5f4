"""Minimal pairs: ties are failures, every paradigm counts the same, and intervals are those of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from quartet.config.choices import UnknownHandling
from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.scoring.unknown import UnknownTokens
from quartet.statistics.intervals import wilson
from quartet.tasks.blimp.data import MinimalPair
from quartet.tasks.blimp.evaluation import (
    TIE,
    PairChoices,
    blimp_measures,
    choices,
    evaluate,
    gather_pairs,
)
from quartet.tasks.evaluation import Evaluation


def pairs(**paradigms: int) -> list[MinimalPair]:
    """So many pairs of each paradigm; the first letter of its name is the phenomenon."""
    return [
        MinimalPair(f"{name} {number}", "bad", name, name[0], "syntax" if name[0] == "a" else "semantics")
        for name, count in paradigms.items()
        for number in range(count)
    ]


def test_sums_and_means_choose_differently() -> None:
    short, long = np.array([-3.0, -3.0]), np.array([-2.0, -2.0, -2.0, -2.0])
    assert choices([short], [long]).right_P.tolist() == [True], "-6 against -8"
    assert choices([short], [long], mean=True).right_P.tolist() == [False], "-3 against -2"
    assert choices([long], [short], mean=True).right_P.tolist() == [True]


def test_a_tie_is_a_failure_and_so_is_a_difference_within_rounding() -> None:
    text = np.array([-1.0, -2.0, -3.0])
    near = text + np.array([0.0, 2.9 * TIE, 0.0])  # three tokens bear three times the rounding of one
    clear = text + np.array([0.0, 3.1 * TIE, 0.0])
    found = choices([text, near, clear, text], [text, text, text, clear])
    assert found.right_P.tolist() == [False, False, True, False]
    assert found.tied_P.tolist() == [True, True, False, False]
    means = choices([near, clear], [text, text], mean=True)
    assert means.tied_P.tolist() == [True, False]
    with pytest.raises(ValueError, match="without a token"):
        choices([np.zeros(0)], [text])


def test_each_paradigm_weighs_the_same_and_each_pair_in_the_other_figure() -> None:
    some = pairs(a1=10, a2=30, b1=40)
    right = np.array([True] * 10 + [True] * 15 + [False] * 15 + [False] * 40)
    tied = np.array([False] * 78 + [True] * 2)
    found = blimp_measures(some, PairChoices(right, tied), 500, 3)
    assert found[""]["accuracy"].value == pytest.approx((1 + 0.5 + 0) / 3)
    assert found[""]["accuracy-micro"].value == pytest.approx(25 / 80)
    assert found[""]["ties"] == wilson(2, 80)
    assert found["a2"]["accuracy"] == wilson(15, 30)
    assert found["phenomenon/a"]["accuracy"].value == pytest.approx(0.75)
    assert found["field/semantics"]["accuracy"].value == 0
    assert {part: measures["accuracy"].n for part, measures in found.items()} == {
        "": 80,
        "a1": 10,
        "a2": 30,
        "b1": 40,
        "field/semantics": 40,
        "field/syntax": 40,
        "phenomenon/a": 40,
        "phenomenon/b": 40,
    }


def test_the_interval_is_that_of_resampled_pairs_within_paradigms() -> None:
    """Held against an ordinary bootstrap that draws the pairs themselves."""
    some = pairs(a1=40, a2=60)
    right = np.random.default_rng(0).random(100) < 0.6
    found = blimp_measures(some, PairChoices(right, np.zeros(100, dtype=bool)), 4000, 1)[""]["accuracy"]
    draw = np.random.default_rng(2)
    parts = right[:40].astype(float), right[40:].astype(float)
    means = [np.mean([draw.choice(part, len(part)).mean() for part in parts]) for _ in range(4000)]
    low, high = np.quantile(means, [0.025, 0.975])
    assert found.ci_low == pytest.approx(low, abs=0.012)
    assert found.ci_high == pytest.approx(high, abs=0.012)


def test_of_a_paradigm_with_few_pairs_no_mean_has_an_interval() -> None:
    some = pairs(a1=9, b1=40)
    found = blimp_measures(some, PairChoices(np.arange(49) % 2 == 0, np.zeros(49, dtype=bool)), 200, 1)
    known = {part: measures["accuracy"].ci_low is not None for part, measures in found.items()}
    assert [known[part] for part in ("", "field/syntax", "field/semantics")] == [False, False, True]


def test_a_limit_takes_the_first_pairs_of_each_paradigm() -> None:
    files = {"x": pairs(a1=3, a2=1), "y": pairs(b1=5)}
    kept = gather_pairs(files, 2)
    assert [one.good for one in kept] == ["a1 0", "a1 1", "a2 0", "b1 0", "b1 1"]
    assert len(gather_pairs(files, 0)) == 9
    with pytest.raises(InputError, match="y: a1 is in x already"):
        gather_pairs({"x": pairs(a1=1), "y": pairs(a1=1)}, 0)


class _WithoutSnow:
    """A scorer that knows every word but one, to which its [UNK] gives the highest probability."""

    name, scale, device, masks, fingerprint = "toy", "no scale", "cpu", False, "toy"

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        return [np.array([-1.0 if word == "snow" else -2.0 for word in text.split()]) for text in texts]

    def unknown_tokens(self, texts: Sequence[str]) -> list[UnknownTokens]:
        found = []
        for text in texts:
            places = [place for place, word in enumerate(text.split()) if word == "snow"]
            found.append(UnknownTokens(len(text.split()), places, [-12.0] * len(places)))
        return found


def test_an_unknown_word_costs_what_it_costs_in_every_other_score() -> None:
    some = [MinimalPair("the cat", "the snow", "p", "p", "syntax")]

    def accuracy(unknown: UnknownHandling) -> float:
        run = Evaluation("made-up", "blimp", samples=10, seed=1)
        evaluate(run, _WithoutSnow(), EvaluatedSystem("toy", "cpu", "no scale"), {"set": some}, unknown)
        return next(row.value for row in run.rows if row.dataset == "set" and row.metric == "accuracy")

    assert accuracy("spread") == 1, "-4 against -3 - 12"
    assert accuracy("warn") == 0, "the paper's way: -4 against -3"
    with pytest.raises(InputError, match="1 of 4 tokens"):
        accuracy("error")
