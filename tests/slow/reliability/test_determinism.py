"""What may change a number, and by how much: threads and batch sizes by rounding, 1e-5 at most; nothing else does.

Processes change no byte (tests/slow/text/test_segmented_processes.py), a second run from nothing none
(tests/slow/test_tiny.py), kills none (tests/reliability/kills.py), and parts of a batch 1e-5 of a loss
(tests/training/test_fit.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from quartet.config.training import TrainingConfig
from quartet.scoring import device
from quartet.tasks.nli.tuning import SiameseModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.models.shapes import KINDS, VARIANTS, small
from tests.scoring.test_language_model import TEXTS, random_model
from tests.tasks.nli import test_tuning as nli_toy

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]

#: In nats per token, of any score and any point of a curve.
ROUNDING = 1e-5
#: Large enough for torch to share the work among threads.
SIZES = {"dim": 128, "heads": 4, "inner": 512}


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch use so many."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def trained(corpus: Small, kind: str, resume: Path) -> TrainedNetwork:
    tokenizer, splits = corpus
    config = small(**{**KINDS[kind], **SIZES, "dropout": 0.1})
    training = TrainingConfig(steps=10, batch_size=16, learning_rate=1e-3, validate_every=5)
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
    settings = TuningSettings(epochs=2, batch_size=16, learning_rate=1e-3, warmup=0.1, seed=1)
    texts = ["the miller crossed the river.", "a grey heron"]
    vectors = []
    for count in (1, 2, 1):
        with threads(count):
            tuned = load_or_tune(lambda: SiameseModel(model, 3), nli_toy.toy(60, 1), settings)
            vectors.append(tuned.embed(texts))
    assert np.abs(vectors[0] - vectors[1]).max() < ROUNDING
    assert np.array_equal(vectors[0], vectors[2])


@pytest.mark.parametrize("kind", VARIANTS)
def test_threads_and_batch_sizes_change_scores_by_rounding(
    small_corpus: Small, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model(kind, small_corpus[0], init_std=0.1, **SIZES)
    with threads(1):
        expected = model.token_logprobs(TEXTS * 4)
    for count, budget, times in (
        (1, 1, 1),
        (1, 100, 4),
        (2, 100_000, 4),
    ):  # large batches are shared among threads
        monkeypatch.setattr(device, "TOKEN_BUDGET", budget)
        with threads(count):
            found = model.token_logprobs(TEXTS * times)
        for one, other in zip(found, expected[: len(TEXTS) * times], strict=True):
            assert np.abs(one - other).max(initial=0.0) < ROUNDING, (count, budget)
