"""A multiple-choice task is learnt from its passages."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.tasks.race.tuning import MultipleChoiceModel, choose, read_choices
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.data.test_passages import full_stops
from tests.scoring.test_language_model import random_model
from tests.tasks.race.test_tuning import Small, question, toy

SETTINGS = TuningSettings(epochs=8, batch_size=16, learning_rate=3e-3, warmup=0.1, seed=1)


@pytest.mark.parametrize("kind", ["segabert", "unilm"])
def test_a_toy_task_is_learnt_and_nothing_without_the_passage(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], layers=2, dim=48, inner=96, max_length=48)
    train, test = toy(256, 1), toy(80, 2)
    read, _ = read_choices(model, train, 48, full_stops)
    chooser = load_or_tune(lambda: MultipleChoiceModel(model), read, SETTINGS)
    gold = np.array([one.answer for one in test])
    found = choose(chooser, read_choices(model, test, 48, full_stops)[0])
    assert (np.array(found) == gold).mean() > 0.85
    mute = [question("nothing", one.text, one.options, one.answer) for one in test]
    control = choose(chooser, read_choices(model, mute, 48, full_stops)[0])
    assert (np.array(control) == gold).mean() < 0.45, "chance is a quarter"
