"""Accuracy on questions of four options (RACE), by level, and two baselines that read no passage.

Intervals draw passages, each with all of its questions, which share its text and are no independent items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quartet.files import write_json
from quartet.results import Measure
from quartet.statistics.intervals import Floats, bootstrap_measures
from quartet.tasks.race.data import LETTERS, LEVELS, ChoiceQuestion

#: A guess among the options.
CHANCE = 1 / len(LETTERS)


def race_measures(
    questions: Sequence[ChoiceQuestion], chosen: Sequence[int], samples: int, seed: int
) -> dict[str, Measure]:
    """The accuracy of "all" and of each level that has questions, with 95 % bootstrap intervals over passages.

    Args:
        chosen: of each question the number of the option that a system takes.

    Raises:
        ValueError: the numbers differ, or there are no questions.
    """
    if len(questions) != len(chosen) or not questions:
        raise ValueError(f"{len(questions)} questions, {len(chosen)} choices")
    right = np.array([question.answer == one for question, one in zip(questions, chosen, strict=True)])
    parts = {"all": np.ones(len(questions), dtype=bool)}
    for level in LEVELS:
        of_level = np.array([question.level == level for question in questions])
        if of_level.any():
            parts[level] = of_level
    return {part: _accuracy(questions, right, of, samples, seed) for part, of in parts.items()}


def _accuracy(
    questions: Sequence[ChoiceQuestion], right: np.ndarray, of: np.ndarray, samples: int, seed: int
) -> Measure:
    numbers: dict[str, int] = {}
    units = np.array(
        [
            numbers.setdefault(question.article_id, len(numbers))
            for question, kept in zip(questions, of, strict=True)
            if kept
        ]
    )
    sums = np.bincount(units, weights=right[of].astype(np.float64))
    counts = np.bincount(units).astype(np.float64)

    def share(drawn: Floats) -> Floats:
        found: Floats = (drawn @ sums) / (drawn @ counts)
        return found

    return bootstrap_measures({"": (share, int(of.sum()))}, len(numbers), samples, seed)[""]


def majority(train: Sequence[ChoiceQuestion], test: Sequence[ChoiceQuestion]) -> list[int]:
    """The letter that is most often right in training; of equal ones the first."""
    counts = Counter(question.answer for question in train)
    return [min(counts, key=lambda letter: (-counts[letter], letter))] * len(test)


def bag_of_words(train: Sequence[ChoiceQuestion], test: Sequence[ChoiceQuestion]) -> list[int]:
    """The option whose own words make it likeliest to be right: a logistic regression on counts, without the passage.

    scikit-learn's L2 with C = 1 on white-space words of single options, whatever the question is.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(lowercase=True, tokenizer=str.split, token_pattern=None)
    features = vectorizer.fit_transform([option for question in train for option in question.options])
    right = [number == question.answer for question in train for number in range(len(LETTERS))]
    classifier = LogisticRegression(max_iter=1000).fit(features, right)
    options = [option for question in test for option in question.options]
    scores = classifier.decision_function(vectorizer.transform(options)).reshape(-1, len(LETTERS))
    return [int(best) for best in scores.argmax(axis=1)]


def write_choices(path: Path, questions: Sequence[ChoiceQuestion], chosen: Sequence[int]) -> None:
    """Write {question's id: letter} as JSON."""
    write_json(path, {question.id: LETTERS[one] for question, one in zip(questions, chosen, strict=True)})
