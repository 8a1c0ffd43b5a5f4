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
from quartet.statistics.intervals import Floats, Ints, bootstrap_ratio
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
    measures = {}
    for part, (right, passages) in right_options(questions, chosen).items():
        hits, sizes = np.bincount(passages, weights=right), np.bincount(passages).astype(np.float64)
        measures[part] = bootstrap_ratio(hits, sizes, len(right), samples, seed, "passages")
    return measures


def right_options(
    questions: Sequence[ChoiceQuestion], chosen: Sequence[int]
) -> dict[str, tuple[Floats, Ints]]:
    """By part, (n,) 1 where the option of a question is right, else 0, and (n,) the number of its passage.

    See :func:`race_measures`.
    """
    if len(questions) != len(chosen) or not questions:
        raise ValueError(f"{len(questions)} questions, {len(chosen)} choices")
    found = {}
    for part in ("all", *LEVELS):
        own = [
            (one, option) for one, option in zip(questions, chosen, strict=True) if part in ("all", one.level)
        ]
        numbers: dict[str, int] = {}
        passages = [numbers.setdefault(one.article_id, len(numbers)) for one, _ in own]
        right = [float(one.answer == option) for one, option in own]
        if own:
            found[part] = np.array(right), np.array(passages)
    return found


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
    outcomes = right_options(chosen.questions, chosen.options)
    for part, measure in measures.items():
        name = dataset if part == "all" else f"{dataset}-{part}"
        found = {"accuracy": measure}
        if part == "all" and chosen.read is not None:
            found["passage-read"] = Measure(chosen.read, len(chosen.questions))
        run.add(found, system, name, chosen.split, "race")
        right, passages = outcomes[part]
        run.keep(("accuracy",), right, system, name, chosen.split, "race", unit="passages", units=(passages,))
    run.say(f"{system.name} on {dataset} {chosen.split}: accuracy {100 * measures['all'].value:.1f} %")


def write_choices(path: Path, questions: Sequence[ChoiceQuestion], chosen: Sequence[int]) -> None:
    """Write {question's id: letter} as JSON."""
    write_json(path, {question.id: LETTERS[one] for question, one in zip(questions, chosen, strict=True)})
