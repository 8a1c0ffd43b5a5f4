"""Accuracy on questions of four options (RACE), by level.

Intervals draw passages, each with all of its questions, which share its text and are no independent items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quartet.files import write_json
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.intervals import bootstrap_ratio
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.race.data import LETTERS, LEVELS, ChoiceQuestion


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
    return bootstrap_ratio(sums, counts, int(of.sum()), samples, seed)


@dataclass(frozen=True)
class ChosenOptions:
    """What a system chose on a split.

    Attributes:
        options: the number of an option a question.
        read: the share of the passages' tokens that it read; None: it reads none.
    """

    split: str
    questions: Sequence[ChoiceQuestion]
    options: Sequence[int]
    read: float | None = None


def add_rows(run: Evaluation, system: EvaluatedSystem, dataset: str, chosen: ChosenOptions) -> None:
    """Add the rows of a system on one split: the set is <dataset>, its levels <dataset>-middle and <dataset>-high."""
    measures = race_measures(chosen.questions, chosen.options, run.samples, run.seed_of(system))
    for part, measure in measures.items():
        found = {"accuracy": measure}
        if part == "all" and chosen.read is not None:
            found["passage-read"] = Measure(chosen.read, len(chosen.questions))
        run.add(found, system, dataset if part == "all" else f"{dataset}-{part}", chosen.split, "race")
    run.say(f"{system.name} on {dataset} {chosen.split}: accuracy {100 * measures['all'].value:.1f} %")


def write_choices(path: Path, questions: Sequence[ChoiceQuestion], chosen: Sequence[int]) -> None:
    """Write {question's id: letter} as JSON."""
    write_json(path, {question.id: LETTERS[one] for question, one in zip(questions, chosen, strict=True)})
