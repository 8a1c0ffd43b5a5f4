"""A BERT of Hugging Face as the start of a training: its weights where our T-TA or encoder has the same ones.

Both have BERT's layers (post-norm, one projection each for queries, keys and values), its embeddings and its head. A
T-TA filled so knows BERT's words, and has yet to learn to read with keys and values that stay the same in every layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from quartet.config.model import ModelConfig
from quartet.errors import InputError
from quartet.hugging_face import content_hash, local_folder, model_type, open_model
from quartet.models.attention import PostNormLayer
from quartet.models.encoder import Encoder
from quartet.models.heads import VocabularyHead
from quartet.models.network import Network
from quartet.models.tta import TTA
from quartet.text.pretrained_vocabulary import read_source
from quartet.text.tokenizer import TextTokenizer

#: Our special tokens that BERT has not, and those whose rows they start with.
STAND_INS = {"[BOS]": "[CLS]", "[EOS]": "[SEP]"}

#: Settings that must be equal: ours, and BERT's name for them.
EQUAL = {
    "dim": "hidden_size",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "norm_epsilon": "layer_norm_eps",
}
#: Settings that must not be larger than BERT's.
AT_MOST = {"layers": "num_hidden_layers", "max_length": "max_position_embeddings"}


@dataclass(frozen=True)
class BertInitialisation:
    """What was taken from a BERT.

    Attributes:
        reference: the folder or the name on the hub.
        content: SHA-256 of the BERT's files, see :func:`quartet.hugging_face.content_hash`.
        rows, vocabulary: token embeddings found among BERT's pieces, of all of ours.
        layers, bert_layers: layers taken (the first ones), of all of BERT's.
    """

    reference: str
    content: str
    rows: int
    vocabulary: int
    layers: int
    bert_layers: int

    def __str__(self) -> str:
        return (
            f"{self.reference}: {self.rows:,} of {self.vocabulary:,} token embeddings and "
            f"{self.layers} of {self.bert_layers} layers"
        )


def fill(network: Network, tokenizer: TextTokenizer, reference: str) -> BertInitialisation:
    """Overwrite the weights of a fresh network with those of a BERT.

    Token embeddings and the head's biases are matched by piece; a piece that BERT has not keeps its fresh row and the
    bias 0. The embedding of token type 0, which every token of a single text has, is added to the position embeddings.
    Tables of segment positions keep their fresh values.

    Args:
        network: of architecture ``tta``, or ``encoder`` with objective ``mlm``, as ``init_from`` demands.
        tokenizer: the network's own.
        reference: see :mod:`quartet.hugging_face`.

    Raises:
        InputError: there is no such model, it is no BERT with a masked-language-model head, or its sizes are not those
            of the network.
    """
    assert isinstance(network, TTA | Encoder)
    assert isinstance(network.head, VocabularyHead)
    assert isinstance(network.tokens, nn.Embedding)
    folder = local_folder(reference)
    kind = model_type(folder)
    if kind != "bert":
        raise InputError(
            f"init_from {reference}", f"its model_type is {kind}", "only a bert can fill a model"
        )
    rows_there = read_source(folder).rows
    bert = open_model(folder, "AutoModelForMaskedLM")
    _check_sizes(network.config, bert.config, reference)
    _check_kind(bert, max(rows_there.values()), reference)
    pieces = tokenizer.tokens(range(tokenizer.vocab_size))
    names = [piece if piece in rows_there else STAND_INS.get(piece, piece) for piece in pieces]
    ours_N = torch.tensor([number for number, name in enumerate(names) if name in rows_there])
    theirs_N = torch.tensor([rows_there[name] for name in names if name in rows_there])
    with torch.no_grad():
        embeddings = bert.bert.embeddings
        network.tokens.weight[ours_N] = embeddings.word_embeddings.weight[theirs_N]
        network.head.bias_V[ours_N] = bert.cls.predictions.decoder.bias[theirs_N]
        for target, source in _pairs(network, bert):
            assert target.shape == source.shape
            target.copy_(source)
    return BertInitialisation(
        reference,
        content_hash(folder),
        len(ours_N),
        len(pieces),
        network.config.layers,
        bert.config.num_hidden_layers,
    )


def _check_sizes(config: ModelConfig, bert: Any, reference: str) -> None:
    """Raise one line that names each setting which does not fit, with both values."""
    other = {ours: theirs for ours, theirs in EQUAL.items() if getattr(config, ours) != getattr(bert, theirs)}
    other |= {
        ours: theirs for ours, theirs in AT_MOST.items() if getattr(config, ours) > getattr(bert, theirs)
    }
    if other:
        differences = [
            f"{ours} is {getattr(config, ours)} and its {theirs} {getattr(bert, theirs)}"
            for ours, theirs in other.items()
        ]
        wanted = [
            f"{ours}: {getattr(bert, theirs)}{' or less' if ours in AT_MOST else ''}"
            for ours, theirs in other.items()
        ]
        raise InputError(f"init_from {reference}", ", ".join(differences), f"set {', '.join(wanted)}")


def _check_kind(bert: Any, last_row: int, reference: str) -> None:
    """Raise for what makes a BERT another model than ours, whatever its sizes."""
    config, embeddings = bert.config, bert.bert.embeddings.word_embeddings.weight
    reason = None
    if config.hidden_act != "gelu":
        reason = f"its hidden_act is {config.hidden_act}, ours is the exact gelu"
    elif getattr(config, "position_embedding_type", "absolute") != "absolute":
        reason = f"its position_embedding_type is {config.position_embedding_type}, not absolute"
    elif getattr(config, "is_decoder", False):
        reason = "it is a decoder, which masked language models are not"
    elif not torch.equal(bert.cls.predictions.decoder.weight, embeddings):
        reason = "its output matrix is not its embedding table, as ours is"
    elif last_row >= len(embeddings):
        reason = f"its vocabulary goes up to row {last_row} of an embedding table of {len(embeddings)}"
    if reason is not None:
        raise InputError(f"init_from {reference}", reason, "take another BERT")


def _pairs(network: TTA | Encoder, bert: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """Each of our weights that is BERT's as it is, and BERT's."""
    assert isinstance(network.head, VocabularyHead)
    assert isinstance(network.head.transform, nn.Sequential)
    embeddings, head = bert.bert.embeddings, bert.cls.predictions.transform
    sequence = network.positions.tables["sequence"]
    assert isinstance(sequence, nn.Embedding)
    rows_TD = embeddings.position_embeddings.weight[: sequence.num_embeddings]
    yield sequence.weight, rows_TD + embeddings.token_type_embeddings.weight[0]
    modules: list[tuple[nn.Module, Any]] = [
        (network.embedding_norm, embeddings.LayerNorm),
        (network.head.transform[0], head.dense),
        (network.head.transform[2], head.LayerNorm),
    ]
    for ours, theirs in zip(network.layers, bert.bert.encoder.layer, strict=False):  # the first ones
        assert isinstance(ours, PostNormLayer)
        attention = theirs.attention
        modules += [
            (ours.attention.query, attention.self.query),
            (ours.attention.key, attention.self.key),
            (ours.attention.value, attention.self.value),
            (ours.attention.output, attention.output.dense),
            (ours.attention_norm, attention.output.LayerNorm),
            (ours.feed_forward.inner, theirs.intermediate.dense),
            (ours.feed_forward.outer, theirs.output.dense),
            (ours.feed_forward_norm, theirs.output.LayerNorm),
        ]
    for module, source in modules:
        for name in ("weight", "bias"):
            yield module.get_parameter(name), source.get_parameter(name)
