"""Multiple choice by baselines that read no passage."""

from __future__ import annotations

from quartet.tasks.race.baselines import bag_of_words, majority
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
