"""Our own three objectives on one list: T-TA against uniLM, against the masked biLM, and against its own products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard
from quartet.models.config import ModelConfig
from quartet.runtime.peers.exported import Shape
from quartet.runtime.peers.paired import in_turns
from quartet.runtime.products import flops, recorded, replay
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import TextTokenizer
from quartet.training.config import TrainingConfig

#: Objective and architecture of each system.
SYSTEMS = {"tta": ("lae", "tta"), "unilm": ("clm", "encoder"), "bilm": ("mlm", "encoder")}


def random_model(name: str, shape: Shape, tokenizer: TextTokenizer, seed: int = 1) -> LanguageModel:
    """A model of `SYSTEMS` with random weights, its head as the papers' (dense, GELU, normalisation, tied table)."""
    objective, architecture = SYSTEMS[name]
    config = ModelConfig(
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
        max_length=128,
    )
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
    return LanguageModel(network, tokenizer, card)


def study(shape: Shape, tokenizer: TextTokenizer, texts: Sequence[str], rounds: int) -> dict[str, Any]:
    """Score one list by each system, in turns.

    Returns:
        Sizes, seconds (medians), and the ratios ``tta / unilm``, ``tta / its matrix products`` and ``bilm / tta``.
    """
    models = {name: random_model(name, shape, tokenizer) for name in SYSTEMS}
    texts = list(texts)
    products = recorded(lambda: models["tta"].score(texts))
    ways: dict[str, Any] = {
        name: (lambda model=model: _score(model, texts)) for name, model in models.items()
    }
    ways["products"] = replay(products)
    timed = in_turns(ways, rounds)
    tokens = sum(len(ids) for ids in tokenizer.encode_batch(texts))
    return {
        "shape": shape.__dict__ | {"vocabulary": tokenizer.vocab_size},
        "texts": len(texts),
        "words": sum(len(text.split()) for text in texts),
        "tokens": tokens,
        "gflop_of_products": flops(products) / 1e9,
        "seconds": {name: timed.median(name) for name in ways},
        "ratios": {
            "tta / unilm": timed.ratio("tta", "unilm"),
            "tta / its matrix products": timed.ratio("tta", "products"),
            "bilm / tta": timed.ratio("bilm", "tta"),
        },
    }


def _score(model: LanguageModel, texts: list[str]) -> None:
    model.score(texts)
