"""Models with random weights, of ours and of Hugging Face, in sizes that all share: speed asks for no training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer

from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard
from quartet.runtime.hf_bert import BertShape
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import TextTokenizer, train_tokenizer

#: BERT-base's, one of the T-TA paper's size, and one to try the command with.
SHAPES = {
    "bert-base": BertShape(12, 768, 12, 3072, 30522),
    "tta-paper": BertShape(3, 512, 8, 2048, 30522),
    "tiny": BertShape(1, 32, 2, 64, 400),
}

#: The shape whose figures are to reach something.
DEMANDED = "tta-paper"


@dataclass(frozen=True)
class TransformerXLShape:
    """Sizes of a Transformer-XL; `rows` streams at once."""

    layers: int
    dim: int
    heads: int
    inner: int
    window: int
    memory: int
    vocabulary: int
    rows: int


#: The Segatron paper's base model on fewer streams and pieces, and the models of params.yaml.
STREAMS = {
    "base": TransformerXLShape(16, 410, 10, 2100, 150, 150, 10000, 4),
    "sample": TransformerXLShape(2, 96, 4, 384, 64, 64, 3000, 8),
}
#: What goes with the shape ``tiny``.
TINY_STREAMS = {"tiny": TransformerXLShape(1, 16, 2, 32, 8, 8, 400, 2)}


def filled_tokenizer(texts: Sequence[str], vocabulary: int) -> TextTokenizer:
    """WordPieces learnt from the texts, and as many that occur in no text as make up the size."""
    learnt = json.loads(train_tokenizer("wordpiece", list(texts), vocabulary, lowercase=True).to_json())
    pieces: dict[str, int] = learnt["model"]["vocab"]
    for number in range(vocabulary - len(pieces)):
        pieces[f"[unused{number}]"] = len(pieces)
    return TextTokenizer(Tokenizer.from_str(json.dumps(learnt)))


#: Objective and architecture of each system.
SYSTEMS = {"tta": ("lae", "tta"), "unilm": ("clm", "encoder"), "bilm": ("mlm", "encoder")}

#: Tokens of one input: room for the longest sentence that is timed.
MAX_LENGTH = 256


def model_config(name: str, shape: BertShape, max_length: int = MAX_LENGTH) -> ModelConfig:
    """One of `SYSTEMS`, its head as the papers' (dense, GELU, normalisation, tied table)."""
    objective, architecture = SYSTEMS[name]
    return ModelConfig(
        objective=objective,
        architecture=architecture,  # type: ignore[arg-type]  # checked by pydantic
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
    name: str, shape: BertShape, tokenizer: TextTokenizer, seed: int = 1, device: str = "cpu"
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
    """The score of one text by the network's own forward, every token to its end, and the whole softmax.

    What its unknown tokens cost beside [UNK] is in it, as :meth:`quartet.scoring.unknown.ScoresTexts.score` has it.
    """
    batch = model.batch([text]).to(model.device)
    wanted_BT = model.objective.predicted(batch)
    states = model.objective.states(model.network, batch)
    logprobs_NV = model.network.logprobs(states.predictive_BTD[wanted_BT])
    read = float(logprobs_NV.gather(1, batch.ids_BT[wanted_BT][:, None]).sum())
    return read + sum(model.unknown_tokens([text])[0].spread)
