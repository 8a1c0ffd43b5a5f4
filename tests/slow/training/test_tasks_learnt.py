"""Toy tasks are learnt: choices from their passages, labels by every objective, entailment from sentence vectors."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from quartet.config.finetuning import Pooling
from quartet.tasks.nli.tuning import LabelledPair, SiameseModel
from quartet.tasks.race.tuning import MultipleChoiceModel, choose, read_choices
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.data.test_passages import full_stops
from tests.scoring.test_language_model import random_model
from tests.tasks.glue import test_tuning as glue
from tests.tasks.glue.test_search import accuracy as glue_accuracy
from tests.tasks.nli import test_tuning as nli
from tests.tasks.race import test_tuning as race

CHOICES = TuningSettings(epochs=8, batch_size=16, learning_rate=3e-3, warmup=0.1, seed=1)


@pytest.mark.parametrize("kind", ["segabert", "unilm"])
def test_choices_are_learnt_and_nothing_without_the_passage(small_corpus: race.Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], layers=2, dim=48, inner=96, max_length=48)
    train, test = race.toy(256, 1), race.toy(80, 2)
    read, _ = read_choices(model, train, 48, full_stops)
    chooser = load_or_tune(lambda: MultipleChoiceModel(model), read, CHOICES)
    gold = np.array([one.answer for one in test])
    found = choose(chooser, read_choices(model, test, 48, full_stops)[0])
    assert (np.array(found) == gold).mean() > 0.85
    mute = [race.question("nothing", one.text, one.options, one.answer) for one in test]
    control = choose(chooser, read_choices(model, mute, 48, full_stops)[0])
    assert (np.array(control) == gold).mean() < 0.45, "chance is a quarter"


@pytest.mark.parametrize(
    ("kind", "pooling"),
    [("segabert", "cls"), ("bilm", "mean"), ("unilm", "cls"), ("tta", "mean")],
)
def test_separable_labels_are_learnt_by_every_objective(
    small_corpus: glue.Small, tmp_path: Path, kind: str, pooling: Pooling
) -> None:
    model = glue.model_of(small_corpus, kind)
    assert glue_accuracy(model, glue.toy(), tmp_path, pooling, epochs=10) > 0.95


@pytest.mark.parametrize("kind", ["segabert", "unilm"])
def test_shuffled_labels_stay_at_chance(small_corpus: glue.Small, tmp_path: Path, kind: str) -> None:
    found = glue_accuracy(glue.model_of(small_corpus, kind), glue.toy(shuffled=True), tmp_path)
    assert 0.35 < found < 0.65


@pytest.mark.parametrize("kind", ["segabert", "tta", "unilm"])
def test_entailment_is_learnt_and_shuffled_labels_are_not(small_corpus: nli.Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], init_std=0.1)
    train, tested = nli.toy(384, seed=1), nli.toy(150, seed=2)
    gold = np.array([label for _, _, label in tested])

    def accuracy(pairs: list[LabelledPair]) -> float:
        siamese = load_or_tune(lambda: SiameseModel(model, 3), pairs, nli.SETTINGS)
        found = siamese.predict([(first, second) for first, second, _ in tested])
        return float(np.mean(np.array(found) == gold))

    labels = [label for _, _, label in train]
    random.Random(3).shuffle(labels)
    shuffled = [(first, second, label) for (first, second, _), label in zip(train, labels, strict=True)]
    assert accuracy(train) > 0.8
    assert accuracy(shuffled) < 0.55, "a third by chance"
