"""Entailment by baselines without a language model."""

from __future__ import annotations

from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli.baselines import baselines, predict
from quartet.tasks.nli.data import NliPair
from quartet.tasks.nli.protocol import NliSets


def test_baselines_learn_from_the_training_pairs_alone() -> None:
    train = [NliPair("it rains", "no no", "contradiction")] * 3 + [
        NliPair("it rains", "yes", "entailment")
    ] * 2
    tested = [NliPair("the sun", "yes yes", "entailment"), NliPair("the sun", "no", "neutral")]
    assert predict("majority", train, tested) == ["contradiction"] * 2
    assert predict("bag-of-words", train, tested) == ["entailment", "contradiction"]


def test_rows_are_of_what_the_training_pairs_teach() -> None:
    labels = (("contradiction", 3), ("entailment", 1))
    train = [NliPair("it rains", "no", label) for label, count in labels for _ in range(count)]
    judged = [NliPair("it rains", "no", label) for label, count in labels for _ in range(4 - count)]
    run = Evaluation("made-up", "none", samples=50, seed=1)
    baselines(run, NliSets(train, [("snli", "dev", judged)], "4 pairs"))
    assert {(row.system, row.value) for row in run.rows} == {("majority", 0.25), ("bag-of-words", 0.25)}
