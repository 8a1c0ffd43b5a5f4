"""A step of pretraining asks its device for nothing: no value, no count, no place is read back.

Told without a GPU, on PyTorch's device ``meta``: its tensors have shapes and no numbers, so whoever reads one fails.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from quartet.config.training import TrainingConfig
from quartet.data import open_source
from quartet.kernels import cross_entropy
from quartet.models.architectures import build_for
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import randomness
from quartet.training.divergence import SEEN_TOGETHER, WatchedModule
from quartet.training.module import PretrainingModule
from quartet.training.processes import Machine
from tests.models.shapes import VARIANTS, small

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
#: An adaptive softmax has another number of targets in each cluster at each step, and has to know it.
NEVER_WAIT = [name for name in VARIANTS if "adaptive" not in name]


@pytest.fixture(autouse=True)
def _no_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device has none."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)
    monkeypatch.setattr(cross_entropy.torch, "autocast", lambda *_, **__: torch.enable_grad())  # type: ignore[attr-defined]


class Run:
    """What Lightning does with a module in each step, but for the optimiser's own."""

    def __init__(self, module: WatchedModule, monkeypatch: pytest.MonkeyPatch) -> None:
        self.module = module.to("meta")
        self.step = 0
        monkeypatch.setattr(type(module), "global_step", property(lambda _: self.step))

    def __call__(self, batch: Any) -> None:
        loss = self.module.training_step(batch.to("meta"), self.step)
        assert isinstance(loss, Tensor)
        loss.backward()  # type: ignore[no-untyped-call]
        self.module.watch.gradient(self.module.named_parameters(), self.step, 1.0)
        self.module.zero_grad()
        self.step += 1

    def looks_at_the_last_alone(self, batches: list[Any]) -> None:
        for batch in batches:
            self(batch)
        self.step = SEEN_TOGETHER - 1
        with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
            self(batches[0])


def pretraining(corpus: Small, kind: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, list[Any]]:
    tokenizer, splits = corpus
    training = TrainingConfig(steps=200, batch_size=8, learning_rate=1e-3)
    model = small(**{**VARIANTS[kind], "dropout": 0.1, "attention_dropout": 0.1})
    source = open_source(model, splits["train"], tokenizer, batch_size=8, seed=1)
    objective = OBJECTIVES[model.objective]()
    module = PretrainingModule(
        build_for(model, tokenizer), objective, training, 1, 100, 50.0, 8.0, Machine(), "cuda"
    )
    batches = [
        objective.label(source.batch(step), tokenizer.vocab_size, randomness.rows(1, 0, step))
        for step in range(4)
    ]
    return Run(module, monkeypatch), batches


@pytest.mark.parametrize("kind", NEVER_WAIT)
def test_of_fifty_steps_only_the_last_looks(
    small_corpus: Small, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, batches = pretraining(small_corpus, kind, monkeypatch)
    run.looks_at_the_last_alone(batches)


@pytest.mark.parametrize(
    "read", ["sum().item", "any().tolist", "nonzero", "cpu", "isfinite().all().__bool__"]
)
def test_a_network_that_reads_is_caught(
    small_corpus: Small, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, batches = pretraining(small_corpus, "tta", monkeypatch)
    original = Network.loss

    def loss(self: Network, hidden_ND: Tensor, targets_N: Tensor) -> Tensor:
        found: Any = hidden_ND
        for name in read.split("()."):
            found = getattr(found, name)
            found = found() if not read.endswith(name) else found
        found()
        return original(self, hidden_ND, targets_N)

    monkeypatch.setattr(Network, "loss", loss)
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        run(batches[0])
