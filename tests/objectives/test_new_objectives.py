"""Objectives of one's own: one whose scores are no log-probabilities, and one some of whose rows are causal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

import quartet
from quartet.config.objectives import OBJECTIVES as FACTS
from quartet.config.objectives import ObjectiveFacts
from quartet.data.batch import Batch, collate, framed
from quartet.data.passages import sentence_row
from quartet.models.encoder import Encoder
from quartet.models.network import Memory, Network
from quartet.nbest.types import Hypothesis, NBest
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED, LabelledBatch, RowRandom, TokenStates
from quartet.objectives.clm import CausalLM
from quartet.objectives.lae import LanguageAutoencoding
from quartet.objectives.mlm import MaskedLM
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from quartet.training.randomness import rows
from tests.scoring.test_language_model import random_model
from tests.test_cli import Small


class TokenEnergy(LanguageAutoencoding):
    """A token's score is its logit, which is learned against one random token for each (no sum over the vocabulary)."""

    def token_scores(self, network: Network, hidden_ND: Tensor, targets_N: Tensor) -> Tensor:
        logits_NV: Tensor = network.head.logits(hidden_ND, network.tokens)  # type: ignore[operator, union-attr]
        return logits_NV.gather(1, targets_N[:, None])[:, 0]

    def loss(
        self, network: Network, labelled: LabelledBatch, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        hidden_BTD, memory = self.read(network, labelled.inputs_BT, labelled.batch, memory)
        hidden_ND = hidden_BTD.flatten(0, 1)[labelled.places_N]
        others_N = labelled.targets_N.roll(1)
        right_N = self.token_scores(network, hidden_ND, labelled.targets_N)
        wrong_N = self.token_scores(network, hidden_ND, others_N)
        return (F.softplus(-right_N) + F.softplus(wrong_N)).sum(), memory


class HalfCausal(CausalLM):
    """The even rows of a step predict the next token, the odd ones masked tokens; texts are scored from the left."""

    def _causal(self, batch: Batch) -> Tensor:
        return (torch.arange(len(batch.ids_BT)) + batch.first_row) % 2 == 0

    def read(
        self, network: Network, inputs_BT: Tensor, batch: Batch, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        hidden_BTD, _ = network(inputs_BT, batch.positions_BTP, batch.real_BT, causal_B=self._causal(batch))
        return hidden_BTD, None

    def training_pair(self, batch: Batch, vocabulary: int, random: RowRandom) -> tuple[Tensor, Tensor]:
        causal_B1 = self._causal(batch)[:, None]
        next_two, masked_two = (
            super().training_pair(batch, vocabulary, random),
            MaskedLM().training_pair(batch, vocabulary, random),
        )
        inputs_BT, targets_BT = (
            torch.where(causal_B1, one, other) for one, other in zip(next_two, masked_two, strict=True)
        )
        return inputs_BT, targets_BT

    def targets(self, own: NDArray[np.int64], specials: int) -> NDArray[np.int64]:
        masked = MaskedLM().targets(own, specials)
        return np.where(np.arange(len(own)) % 2 == 0, super().targets(own, specials), masked)

    def states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        all_B = torch.ones(len(batch.ids_BT), dtype=torch.bool)
        hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT, causal_B=all_B)
        return TokenStates(F.pad(hidden_BTD[:, :-1], (0, 0, 1, 0)), hidden_BTD)


#: By name the class, its facts, and the model that it trains.
TOYS: dict[str, tuple[type[Any], ObjectiveFacts, dict[str, Any]]] = {
    "energy": (
        TokenEnergy,
        replace(FACTS["lae"], label="energy", normalised=False),
        {"objective": "energy", "architecture": "tta"},
    ),
    "half-causal": (
        HalfCausal,
        replace(FACTS["mlm"], label="half from the left", masks=False),
        {"objective": "half-causal", "architecture": "encoder"},
    ),
}
TEXTS = ["the miller crossed the river.", "my neighbour forgot a letter.", "a grey heron", ""]


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, (kind, facts, _) in TOYS.items():
        monkeypatch.setitem(OBJECTIVES, name, kind)
        monkeypatch.setitem(FACTS, name, facts)


def trained(name: str, tokenizer: TextTokenizer, steps: int = 40) -> tuple[LanguageModel, list[float]]:
    """A small model after some steps on the texts, and the losses a target."""
    model = random_model("tta", tokenizer, **TOYS[name][2], init_std=0.1)
    batch = collate([framed(sentence_row(ids), 2, 3) for ids in tokenizer.encode_batch(TEXTS[:3]) * 2], 0)
    optimiser = torch.optim.Adam(model.network.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        labelled = model.objective.label(batch, tokenizer.vocab_size, rows(1, 0, step))
        loss = model.objective.loss(model.network, labelled)[0] / len(labelled.targets_N)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.network.eval()
    return model, losses


@pytest.mark.parametrize("name", TOYS)
def test_it_learns_scores_and_reranks(name: str, small_corpus: Small) -> None:
    model, losses = trained(name, small_corpus[0])
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    scores = model.score(TEXTS)
    assert scores == pytest.approx([values.sum() for values in model.token_logprobs(TEXTS)])
    garbled = "river the neighbour a crossed."
    lists = [NBest(f"u{number}", (Hypothesis(garbled, 0.0), Hypothesis(text, -1e-6)), text)
             for number, text in enumerate(TEXTS[:3])]  # fmt: skip
    found = quartet.rescore(model, lists, weight=0.9)
    assert [row["best"] for row in found] == [text.rstrip(".") for text in TEXTS[:3]]


def test_an_energy_is_no_log_probability(small_corpus: Small) -> None:
    model, _ = trained("energy", small_corpus[0])
    assert max(model.token_logprobs(TEXTS)[0]) > 0
    assert not model.card.model.facts.normalised


def test_rows_are_causal_where_the_objective_says_so(small_corpus: Small) -> None:
    model = random_model("unilm", small_corpus[0], **TOYS["half-causal"][2])
    assert isinstance(model.network, Encoder) and not model.card.model.causal
    ids = torch.arange(len(SPECIALS), len(SPECIALS) + 6)
    batch = collate([framed(sentence_row(ids.numpy()), 2, 3)] * 2, 0)
    changed_BT = batch.ids_BT.clone()
    changed_BT[:, 5] = len(SPECIALS)
    before_BTD, _ = model.objective.read(model.network, batch.ids_BT, batch)
    after_BTD, _ = model.objective.read(model.network, changed_BT, replace(batch, ids_BT=changed_BT))
    moved_BT = ((before_BTD - after_BTD).abs().amax(-1) > 1e-6).tolist()
    assert moved_BT[0] == [False] * 5 + [True] * 3
    assert moved_BT[1] == [True] * 8
    _, targets_BT = model.objective.training_pair(batch, 40, rows(1, 0, 0))
    assert (targets_BT != IGNORED).sum(1).tolist() == model.objective.targets(np.array([6, 6]), 2).tolist()
    pair = model.objective.states(model.network, replace(batch, first_row=0)).contextual_BTD
    assert torch.allclose(pair[0], before_BTD[0], atol=1e-6), "scored as an even row is read"
