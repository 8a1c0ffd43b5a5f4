"""GLUE by baselines without a language model."""

from __future__ import annotations

import pytest

from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.baselines import bag_of_words, baselines, majority
from quartet.tasks.glue.data import TASKS
from tests.tasks.glue.test_evaluation import examples
from tests.tasks.glue.test_metrics import example


def test_majority() -> None:
    train = [example("a", None, label) for label in ("1", "0", "0", "1", "1")]
    assert majority(TASKS["cola"], train, train[:2]).tolist() == [1, 1]
    assert majority(TASKS["cola"], train[:2], train[:2]).tolist() == [0, 0], "of equal ones the first"
    scored = [example("a", "b", None, score) for score in (1.0, 4.0)]
    assert majority(TASKS["stsb"], scored, scored[:1]).tolist() == [2.5]


def test_a_bag_of_words_tells_what_both_texts_have_from_what_one_has() -> None:
    pairs = [("red", "red", "1"), ("red", "blue", "0"), ("blue", "blue", "1"), ("blue", "red", "0")] * 5
    train = [example(*pair) for pair in pairs]
    assert bag_of_words(TASKS["mrpc"], train, train[:4]).tolist() == [1, 0, 1, 0]
    scored = [example("good", "good", None, 5.0), example("bad", "good", None, 0.0)] * 5
    high, low = bag_of_words(TASKS["stsb"], scored, scored[:2])
    assert high > 4 > 1 > low
    single = [example("good", None, "1"), example("bad", None, "0")] * 5
    assert bag_of_words(TASKS["sst2"], single, single[:2]).tolist() == [1, 0]


def test_rows_of_baselines() -> None:
    run = Evaluation("made-up", "none", samples=50, seed=1)
    baselines(run, "mrpc", examples())
    rows = run.rows
    assert {(row.system, row.metric) for row in rows} == {
        (system, metric) for system in ("majority", "bag-of-words") for metric in ("accuracy", "f1")
    }
    assert {(row.table, row.dataset, row.split) for row in rows} == {("glue", "mrpc", "dev")}
    (row,) = [row for row in rows if (row.system, row.metric) == ("majority", "f1")]
    assert row.value == pytest.approx(2 / 3)
    assert (row.seed, row.scale) == (None, "6 examples")
