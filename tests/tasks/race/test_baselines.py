"""Multiple choice by baselines that read no passage."""

from __future__ import annotations

from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet
from quartet.tasks.race.baselines import bag_of_words, baselines, majority
from tests.tasks.race.test_metrics import question


def test_baselines() -> None:
    train = [question("high1", number, number % 2) for number in range(5)]
    assert majority(train, train) == [0] * 5
    telling = [
        question(
            "high2", number, answer, tuple("yes" if place == answer else f"no {place}" for place in range(4))
        )
        for number, answer in enumerate([3, 1, 0, 2, 2, 1, 0, 3])
    ]
    assert bag_of_words(telling[:6], telling[6:]) == [0, 3]


def test_rows_are_of_what_the_training_questions_teach() -> None:
    train, judged = ([question("high1", number, answer) for number in range(4)] for answer in (0, 1))
    run = Evaluation("made-up", "none", samples=50, seed=1)
    baselines(run, [QuestionSet("race", "race", train, {"dev": judged}, "")])
    assert {(row.system, row.split, row.value) for row in run.rows} == {
        ("majority", "dev", 0.0), ("bag-of-words", "dev", 0.0),
    }  # fmt: skip
