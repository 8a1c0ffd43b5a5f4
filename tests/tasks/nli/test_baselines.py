"""Entailment by baselines without a language model."""

from __future__ import annotations

from quartet.tasks.nli.baselines import predict
from quartet.tasks.nli.data import NliPair


def test_baselines_learn_from_the_training_pairs_alone() -> None:
    train = [NliPair("it rains", "no no", "contradiction")] * 3 + [
        NliPair("it rains", "yes", "entailment")
    ] * 2
    tested = [NliPair("the sun", "yes yes", "entailment"), NliPair("the sun", "no", "neutral")]
    assert predict("majority", train, tested) == ["contradiction"] * 2
    assert predict("bag-of-words", train, tested) == ["entailment", "contradiction"]
