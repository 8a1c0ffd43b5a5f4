"""Entailment is learnt from sentence vectors, and shuffled labels are not."""

from __future__ import annotations

import random

import numpy as np
import pytest

from quartet.tasks.nli.tuning import LabelledPair, SiameseModel
from quartet.training.tuning import load_or_tune
from tests.scoring.test_language_model import random_model
from tests.tasks.nli.test_tuning import SETTINGS, Small, toy


@pytest.mark.parametrize("kind", ["segabert", "tta", "unilm"])
def test_a_toy_entailment_is_learnt_and_shuffled_labels_are_not(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], init_std=0.1)
    train, tested = toy(384, seed=1), toy(150, seed=2)
    gold = np.array([label for _, _, label in tested])

    def accuracy(pairs: list[LabelledPair]) -> float:
        siamese = load_or_tune(lambda: SiameseModel(model, 3), pairs, SETTINGS)
        found = siamese.predict([(first, second) for first, second, _ in tested])
        return float(np.mean(np.array(found) == gold))

    labels = [label for _, _, label in train]
    random.Random(3).shuffle(labels)
    shuffled = [(first, second, label) for (first, second, _), label in zip(train, labels, strict=True)]
    assert accuracy(train) > 0.8
    assert accuracy(shuffled) < 0.55, "a third by chance"
