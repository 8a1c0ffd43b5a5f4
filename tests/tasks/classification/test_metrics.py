"""Figures of labelled texts are scikit-learn's; cross-validation shows a system no test label, and repeats itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import (
    classification_measures,
    cross_validate,
    judge,
    stratified_folds,
)
from quartet.tasks.evaluation import Evaluation

LABELS = ["pos", "neg"] * 15 + ["neg"] * 10


def test_figures_are_those_of_scikit_learn() -> None:
    generator = np.random.default_rng(1)
    predicted = [label if generator.random() < 0.7 else "pos" for label in LABELS]
    found = classification_measures(LABELS, predicted, positive="pos", samples=300, seed=1)
    assert found["accuracy"].value == accuracy_score(LABELS, predicted)
    assert found["f1"].value == pytest.approx(f1_score(LABELS, predicted, pos_label="pos"))
    for measure in found.values():
        assert measure.n == 40
        assert measure.ci_low is not None
        assert measure.ci_high is not None
        assert measure.ci_low < measure.value < measure.ci_high


def test_a_label_that_is_never_predicted_has_f1_zero() -> None:
    assert classification_measures(LABELS, ["neg"] * 40, "pos", 50, 1)["f1"].value == 0.0


def test_labels_and_predictions_must_fit() -> None:
    with pytest.raises(ValueError, match="2 labels, 1 predictions"):
        classification_measures(["a", "b"], ["a"], "a", 10, 1)
    with pytest.raises(ValueError, match="positive label 'c'"):
        classification_measures(["a", "b"], ["a", "b"], "c", 10, 1)


EXAMPLES = [
    LabelledText(f"{'warm and funny' if label == 'pos' else 'dull and slow'} number {index}", label)
    for index, label in enumerate(LABELS)
]


def test_folds_cover_every_item_once_with_even_labels_and_repeat_themselves() -> None:
    folds = stratified_folds(LABELS, 5, seed=1)
    assert sorted(np.concatenate(folds).tolist()) == list(range(40))
    for test in folds:
        assert sum(LABELS[index] == "pos" for index in test) == 3
        assert test.tolist() == sorted(test)
    assert all(np.array_equal(a, b) for a, b in zip(folds, stratified_folds(LABELS, 5, seed=1), strict=True))
    assert any(
        not np.array_equal(a, b) for a, b in zip(folds, stratified_folds(LABELS, 5, seed=2), strict=True)
    )


@pytest.mark.parametrize("folds", [1, 0, 16])
def test_impossible_folds_are_refused(folds: int) -> None:
    with pytest.raises(InputError, match="rarest label has 15"):
        stratified_folds(LABELS, folds, seed=1)


def test_each_text_is_predicted_once_by_a_system_that_has_not_seen_it() -> None:
    calls = []

    def remember(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
        assert not {example.text for example in train} & set(texts)
        assert len(train) + len(texts) == len(EXAMPLES)
        calls.append(len(texts))
        return ["pos" if "warm" in text else "neg" for text in texts]

    assert cross_validate(EXAMPLES, remember, 4, seed=1) == LABELS
    assert calls == [10, 10, 10, 10]


def test_a_broken_system_is_refused() -> None:
    with pytest.raises(ValueError, match="1 labels for 10 texts"):
        cross_validate(EXAMPLES, lambda train, texts: ["pos"], 4, seed=1)
    with pytest.raises(ValueError, match="maybe"):
        cross_validate(EXAMPLES, lambda train, texts: ["maybe"] * len(texts), 4, seed=1)


def test_f1_is_of_the_last_label_by_name() -> None:
    """A system that never gives it has none of it, however often it is right."""
    examples = [LabelledText(f"text {number}", ("neg", "pos")[number % 2]) for number in range(8)]
    run = Evaluation("made-up", "none", samples=20, seed=1)
    system = EvaluatedSystem("never", "cpu", "none")
    judge(run, system, "made-up", examples, lambda train, texts: ["neg"] * len(texts), folds=2)
    assert {row.metric: row.value for row in run.rows} == {"accuracy": 0.5, "f1": 0.0}


@pytest.mark.parametrize("seed", [1, 2, None])
def test_every_system_has_the_folds_of_the_run(seed: int | None) -> None:
    asked: list[list[str]] = []

    def remember(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
        asked.append(list(texts))
        return ["pos"] * len(texts)

    run = Evaluation("made-up", "none", samples=20, seed=3)
    judge(run, EvaluatedSystem("made-up", "cpu", "none", seed), "made-up", EXAMPLES, remember, folds=4)
    assert asked == [[EXAMPLES[index].text for index in fold] for fold in stratified_folds(LABELS, 4, seed=3)]
