"""Our own three systems of the T-TA paper with random weights, and their scores by the plainest way there is."""

from __future__ import annotations

import torch

from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard
from quartet.runtime.peers.exported import Shape
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import TextTokenizer

#: Objective and architecture of each system.
SYSTEMS = {"tta": ("lae", "tta"), "unilm": ("clm", "encoder"), "bilm": ("mlm", "encoder")}

#: Tokens of one input: room for the longest sentence that is timed.
MAX_LENGTH = 256


def model_config(name: str, shape: Shape, max_length: int = MAX_LENGTH) -> ModelConfig:
    """One of `SYSTEMS`, its head as the papers' (dense, GELU, normalisation, tied table)."""
    objective, architecture = SYSTEMS[name]
    return ModelConfig(
        objective=objective,  # type: ignore[arg-type]  # checked by pydantic
        architecture=architecture,  # type: ignore[arg-type]
        reads="sentences",
        positions=("sequence",),
        layers=shape.layers,
        dim=shape.dim,
        heads=shape.heads,
        inner=shape.inner,
        dropout=0.0,
        head="transform",
        max_length=max_length,
    )


def random_model(
    name: str, shape: Shape, tokenizer: TextTokenizer, seed: int = 1, device: str = "cpu"
) -> LanguageModel:
    """A model of `SYSTEMS` with random weights."""
    config = model_config(name, shape)
    torch.manual_seed(seed)
    network = build_for(config, tokenizer)
    card = ModelCard(
        name=name,
        seed=seed,
        corpus="none",
        corpus_words=0,
        steps=0,
        best_step=0,
        parameters=network.parameter_count,
        model=config,
        training=TrainingConfig(steps=1, batch_size=1, learning_rate=1e-4),
    )
    return LanguageModel(network, tokenizer, card, device)


@torch.inference_mode()
def plain_score(model: LanguageModel, text: str) -> float:
    """The score of one text by the network's own forward, every token to its end, and the whole softmax."""
    batch = model.batch([text]).to(model.device)
    wanted_BT = model.objective.predicted(batch)
    states = model.objective.states(model.network, batch)
    logprobs_NV = model.network.logprobs(states.predictive_BTD[wanted_BT])
    return float(logprobs_NV.gather(1, batch.ids_BT[wanted_BT][:, None]).sum())
