"""Accuracy and F1 of labelled texts are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from quartet.tasks.classification.metrics import classification_measures

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
