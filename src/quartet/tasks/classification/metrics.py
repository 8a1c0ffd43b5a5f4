"""Accuracy and F1 of labelled texts by cross-validation: the folds, who is trained on which, and what is judged.

Every text is predicted once, by a system that was trained on the other folds. What is compared is a callable
``fit_predict(train, texts) -> labels``: a baseline, or the fine-tuning of a model. It never sees the test labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.agreement import weighted_f1
from quartet.statistics.intervals import bootstrap_measure, wilson
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.evaluation import Evaluation


def classification_measures(
    gold: Sequence[str], predicted: Sequence[str], positive: str, samples: int, seed: int
) -> dict[str, Measure]:
    """{"accuracy", "f1"} with 95 % intervals; n counts texts.

    Accuracy has Wilson's interval, F1 of the label `positive` that of a bootstrap over texts (F1 is no
    proportion). Both take the predictions as independent; in cross-validation systems share training texts,
    so the true intervals are somewhat wider. F1 is 0 where the label is neither there nor predicted.

    Raises:
        ValueError: the numbers differ, or no text has the label `positive`.
    """
    if len(gold) != len(predicted) or positive not in gold:
        raise ValueError(f"{len(gold)} labels, {len(predicted)} predictions, positive label {positive!r}")
    right = sum(a == b for a, b in zip(gold, predicted, strict=True))
    said, told = (
        np.array([label == positive for label in each], dtype=np.float64) for each in (predicted, gold)
    )
    return {
        "accuracy": wilson(right, len(gold)),
        "f1": bootstrap_measure(
            partial(weighted_f1, said, told), len(gold), len(gold), samples, seed, "texts"
        ),
    }


FitPredict = Callable[[Sequence[LabelledText], Sequence[str]], Sequence[str]]


def stratified_folds(labels: Sequence[str], folds: int, seed: int) -> list[NDArray[np.int64]]:
    """The indices of each fold's test items, ascending; every fold has about the same share of each label.

    The same labels, number and seed give the same folds, so that systems are compared on the same ones.

    Raises:
        InputError: there are fewer than two folds, or a label has fewer items than there are folds.
    """
    from sklearn.model_selection import StratifiedKFold  # half a second of imports, needed here only

    rarest = min(Counter(labels).values(), default=0)
    if not 2 <= folds <= rarest:
        raise InputError(
            "folds", f"{folds} asked for, but the rarest label has {rarest} items", "2 to that many"
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return [test.astype(np.int64) for _, test in splitter.split(np.zeros(len(labels)), list(labels))]


def cross_validate(
    examples: Sequence[LabelledText], fit_predict: FitPredict, folds: int, seed: int
) -> list[str]:
    """The predicted label of every example, each predicted by a system trained on the other folds.

    Args:
        examples: the whole set.
        fit_predict: called once a fold with the training examples and the test texts.
        folds: their number.
        seed: of the shuffle that makes them, see `stratified_folds`.

    Raises:
        ValueError: `fit_predict` gave another number of labels, or a label that the set does not have.
    """
    labels = [example.label for example in examples]
    predicted = [""] * len(examples)
    for test in stratified_folds(labels, folds, seed):
        held_out = set(test.tolist())
        train = [example for index, example in enumerate(examples) if index not in held_out]
        answers = fit_predict(train, [examples[index].text for index in test])
        if len(answers) != len(test):
            raise ValueError(f"{len(answers)} labels for {len(test)} texts")
        for index, answer in zip(test, answers, strict=True):
            predicted[index] = answer
    unknown = set(predicted) - set(labels)
    if unknown:
        raise ValueError(f"predicted labels that the set does not have: {sorted(unknown)}")
    return predicted


def judge(
    run: Evaluation,
    system: EvaluatedSystem,
    dataset: str,
    examples: Sequence[LabelledText],
    fit_predict: FitPredict,
    folds: int,
) -> None:
    """Add the rows of a system on a set, cross-validated; all systems get the same folds."""
    gold = [example.label for example in examples]
    predicted = cross_validate(examples, fit_predict, folds, run.seed)
    measures = classification_measures(gold, predicted, max(gold), run.samples, run.seed_of(system))
    run.add(measures, system, dataset, "cross-validation", "classification")
    right = [a == b for a, b in zip(gold, predicted, strict=True)]
    run.keep(("accuracy",), right, system, dataset, "cross-validation", "classification", unit="texts")
    run.say(f"{system.name} on {dataset}: accuracy {100 * measures['accuracy'].value:.1f} %")
