"""What the optimiser's settings do to the weights: Adam's own equations, and the norm of what a step may move."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from quartet.config.training import TrainingConfig
from quartet.data import open_source
from quartet.data.sentences import SentenceSource
from quartet.models.architectures import build
from quartet.models.network import Network
from quartet.objectives.base import LabelledBatch
from quartet.objectives.lae import LanguageAutoencoding
from quartet.tasks.nli.tuning import SiameseModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.optim import build_optimiser
from quartet.training.randomness import rows
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.models.shapes import KINDS, VOCABULARY, small
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def train(corpus: Small, folder: Path, kind: str = "tta", **settings: Any) -> TrainedNetwork:
    """A training at a constant rate, of which any number of steps is the beginning of a longer one."""
    plain: dict[str, Any] = {
        "batch_size": 4,
        "learning_rate": 1e-2,
        "warmup": 0.0,
        "schedule": "constant",
        "validate_every": 1,
        "validation_batches": 1,
    }
    tokenizer, splits = corpus
    training = TrainingConfig(**{**plain, **settings})
    resume = folder / "resume.ckpt"
    config = small(**{"init_std": 0.2, **KINDS[kind]})
    return fit(config, training, tokenizer, splits["train"], splits["valid"], seed=7, resume=resume)


def moved(one: TrainedNetwork, other: TrainedNetwork) -> float:
    """The norm of the difference of all weights."""
    pairs = zip(one.network.state_dict().values(), other.network.state_dict().values(), strict=True)
    return math.sqrt(sum(float((a.double() - b.double()).square().sum()) for a, b in pairs))


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.8)])
@pytest.mark.parametrize("epsilon", [1e-8, 0.5])
def test_two_steps_are_adams_by_hand(betas: tuple[float, float], epsilon: float) -> None:
    layer = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        layer.weight.fill_(1.0)
    settings = TrainingConfig(
        steps=10,
        batch_size=1,
        learning_rate=0.1,
        warmup=0.0,
        schedule="constant",
        weight_decay=0.0,
        betas=betas,
        epsilon=epsilon,
    )
    optimiser, _ = build_optimiser(layer, settings)
    weight, first, second = 1.0, 0.0, 0.0
    for step, gradient in enumerate((2.0, -0.5), start=1):
        layer.weight.grad = torch.full_like(layer.weight, gradient)
        optimiser.step()
        first = betas[0] * first + (1 - betas[0]) * gradient
        second = betas[1] * second + (1 - betas[1]) * gradient**2
        mean, square = first / (1 - betas[0] ** step), second / (1 - betas[1] ** step)
        weight -= 0.1 * mean / (math.sqrt(square) + epsilon)
        assert layer.weight.item() == pytest.approx(weight, rel=1e-5)


def test_a_training_clips_the_gradient_to_its_norm(small_corpus: Small, tmp_path: Path) -> None:
    """With an epsilon far above all gradients a first step is rate / epsilon times the gradient."""
    start = train(small_corpus, tmp_path, steps=1, learning_rate=1e-30)
    plain: dict[str, Any] = {"steps": 1, "learning_rate": 1e3, "epsilon": 1e3, "weight_decay": 0.0}
    whole = moved(start, train(small_corpus, tmp_path, **plain, clip=0.0))
    assert whole > 1.0
    for clip in (0.25, 0.5):
        assert moved(start, train(small_corpus, tmp_path, **plain, clip=clip)) == pytest.approx(
            clip, rel=5e-3
        )
    assert moved(start, train(small_corpus, tmp_path, **plain, clip=2 * whole)) == pytest.approx(whole)
    assert whole == pytest.approx(gradient_of_the_mean(start.network, small_corpus), rel=5e-3)


def gradient_of_the_mean(network: Network, corpus: Small) -> float:
    """The norm of the gradient of the first batch's loss, divided by the tokens of a mean batch: T-TA predicts all."""
    tokenizer, splits = corpus
    source = open_source(network.config, splits["train"], tokenizer, batch_size=4, seed=7)
    assert isinstance(source, SentenceSource)
    batch, mean = source.batch(0), int(source.lengths.sum()) / source.steps_per_epoch
    network.train().zero_grad()
    labelled = LanguageAutoencoding().label(batch, network.vocabulary, rows(0, 0, 0))
    loss, _ = LanguageAutoencoding().loss(network, labelled)
    (loss / mean).backward()  # type: ignore[no-untyped-call]
    gradients = [each.grad for each in network.parameters() if each.grad is not None]
    return float(torch.linalg.vector_norm(torch.stack([one.norm() for one in gradients])))


@pytest.fixture
def norms(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The norm of the gradient at each step of any optimiser."""
    found: list[float] = []
    original = torch.optim.AdamW.step

    def step(self: torch.optim.AdamW, closure: Any = None) -> Any:
        loss = None if closure is None else closure()
        every = [
            each.grad for group in self.param_groups for each in group["params"] if each.grad is not None
        ]
        found.append(float(torch.linalg.vector_norm(torch.stack([one.norm() for one in every]))))
        original(self)
        return loss

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    return found


def test_a_tuning_clips_the_gradient_to_1(small_corpus: Small, norms: list[float]) -> None:
    model = random_model("tta", small_corpus[0])
    pairs = [("the miller", "a grey heron", 0), ("a grey heron", "a letter", 2), ("the river", "a letter", 1)]
    settings = TuningSettings(epochs=4, batch_size=1, learning_rate=1e-3, warmup=0.0, seed=1)
    load_or_tune(lambda: SiameseModel(model, 3), pairs, settings)
    assert len(norms) == 12
    assert max(norms) == pytest.approx(1.0, rel=1e-3), "some would be larger"
    assert all(norm <= 1.001 for norm in norms)


def test_the_best_weights_are_of_the_lowest_loss_and_not_of_the_last_fall(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Validation losses of 5, 3, 4 and 3.5: the weights after the second step."""
    losses: Iterator[float] = iter(())
    original = LanguageAutoencoding.loss

    def loss(
        self: LanguageAutoencoding, network: Any, labelled: LabelledBatch, *rest: Any
    ) -> tuple[Tensor, Any]:
        found, memory = original(self, network, labelled, *rest)
        targets = len(labelled.targets_N)
        return (found if torch.is_grad_enabled() else torch.tensor(next(losses) * targets)), memory

    monkeypatch.setattr(LanguageAutoencoding, "loss", loss)
    losses = iter((5.0, 3.0, 4.0, 3.5))
    trained = train(small_corpus, tmp_path, steps=4)
    assert [value for _, value in trained.curve] == pytest.approx([5.0, 3.0, 4.0, 3.5])
    assert trained.best_step == 2
    losses = iter((5.0, 3.0))
    shorter = train(small_corpus, tmp_path, steps=2)
    for name, tensor in shorter.network.state_dict().items():
        assert torch.equal(trained.best[name], tensor), name


@pytest.mark.parametrize("kind", ["transformer-xl", "segatron-xl"])
def test_no_weight_decay_on_vectors(kind: str) -> None:
    """All that is no matrix, and Transformer-XL's u and v, which are a vector a head."""
    network = build(small(**KINDS[kind]), VOCABULARY)
    optimiser, _ = build_optimiser(network, TrainingConfig(steps=1, batch_size=1, learning_rate=1.0))
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    decayed, spared = ({names[id(each)] for each in group["params"]} for group in optimiser.param_groups)
    assert [group["weight_decay"] for group in optimiser.param_groups] == [0.01, 0.0]
    assert {name for name, each in network.named_parameters() if each.dim() > 1} - decayed == {"u_HK", "v_HK"}
    assert decayed | spared == set(names.values()) and not decayed & spared
