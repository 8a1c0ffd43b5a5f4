"""What torch's threads change in a training and a tuning: rounding, 1e-5 at most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from quartet.config.training import TrainingConfig
from quartet.training.fit import Trained, fit
from quartet.training.siamese import tuned
from quartet.training.tuning import Tuning
from tests.models.shapes import KINDS, small
from tests.reliability.test_determinism import ROUNDING, SIZES, Small, threads
from tests.scoring.test_language_model import random_model
from tests.training import test_siamese


def trained(corpus: Small, kind: str, resume: Path) -> Trained:
    tokenizer, splits = corpus
    config = small(**{**KINDS[kind], **SIZES, "dropout": 0.1})
    training = TrainingConfig(steps=20, batch_size=16, learning_rate=1e-3, validate_every=5)
    return fit(config, training, tokenizer, splits["train"], splits["valid"], seed=7, resume=resume)


@pytest.mark.parametrize("kind", ["bilm", "tta", "segatron-xl"])
def test_threads_change_a_training_by_rounding(small_corpus: Small, kind: str, tmp_path: Path) -> None:
    found = []
    for count in (1, 2, 1):
        with threads(count):
            found.append(trained(small_corpus, kind, tmp_path / "none.ckpt"))
    one, two, again = (np.array([loss for _, loss in each.curve]) for each in found)
    assert np.abs(one - two).max() < ROUNDING
    assert np.array_equal(one, again), "the same number of threads: the same bits"
    for name, tensor in found[0].network.state_dict().items():
        assert torch.equal(tensor, found[2].network.state_dict()[name]), name


def test_threads_change_a_tuning_by_rounding(small_corpus: Small) -> None:
    model = random_model("segabert", small_corpus[0], **SIZES, init_std=0.05)
    settings = Tuning(epochs=2, batch_size=16, learning_rate=1e-3, warmup=0.1, seed=1)
    texts = ["the miller crossed the river.", "a grey heron"]
    vectors = []
    for count in (1, 2, 1):
        with threads(count):
            vectors.append(tuned(model, test_siamese.toy(60, 1), 3, settings).embed(texts))
    assert np.abs(vectors[0] - vectors[1]).max() < ROUNDING
    assert np.array_equal(vectors[0], vectors[2])
