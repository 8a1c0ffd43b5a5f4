"""Accuracy on multiple choice, by level."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quartet.tasks.race.data import ChoiceQuestion, SchoolLevel
from quartet.tasks.race.metrics import race_measures, write_choices


def question(
    article: str, number: int, answer: int, options: tuple[str, ...] = ("a", "b", "c", "d")
) -> ChoiceQuestion:
    level: SchoolLevel = "high" if article.startswith("high") else "middle"
    return ChoiceQuestion(article, number, "A passage.", "What?", options, answer, level)


def test_accuracy_of_all_and_of_each_level() -> None:
    questions = [
        question("high1", 0, 0),
        question("high1", 1, 1),
        question("middle1", 0, 2),
        question("middle2", 0, 3),
    ]
    measures = race_measures(questions, [0, 1, 2, 0], samples=100, seed=1)
    assert {part: (measure.value, measure.n) for part, measure in measures.items()} == {
        "all": (0.75, 4),
        "middle": (0.5, 2),
        "high": (1.0, 2),
    }
    assert {measure.ci_low for measure in measures.values()} == {None}, "too few passages"
    assert list(race_measures(questions[2:], [2, 3], 10, 1)) == ["all", "middle"]
    with pytest.raises(ValueError, match="4 questions, 1 choices"):
        race_measures(questions, [0], 10, 1)


def test_passages_are_drawn_whole() -> None:
    """Ten passages of ten questions, all right or all wrong: an interval over questions would be far too narrow."""
    questions = [question(f"high{number // 10}", number % 10, 0) for number in range(100)]
    measure = race_measures(questions, [0] * 50 + [1] * 50, samples=4000, seed=1)["all"]
    # of ten fair coins, at most 1 or at least 9 heads are 1.07 % each, more than the 0.86 % beyond an end
    assert (measure.value, measure.ci_low, measure.ci_high) == (0.5, 0.1, 0.9)


def test_choices_are_written_as_letters(tmp_path: Path) -> None:
    write_choices(tmp_path / "race.json", [question("high1.txt", 0, 0), question("high1.txt", 1, 0)], [3, 1])
    assert json.loads((tmp_path / "race.json").read_text()) == {"high1.txt-0": "D", "high1.txt-1": "B"}
