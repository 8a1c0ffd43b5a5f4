"""The attention of a model on a document: any architecture, any layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from quartet.data.batch import Row
from quartet.errors import InputError
from quartet.scoring.attention_recorder import record_attention
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.attention.maps import DocumentAttention
from quartet.text.tokenizer import is_own


def document_attention(
    model: LanguageModel,
    name: str,
    document: Row,
    tokens: int,
    layers: Sequence[int] | None = None,
    head: int | None = None,
) -> DocumentAttention:
    """Read the beginning of a document as one input, intact, and take down where each token's attention goes.

    A model that reads single sentences gets the document as if it were one, in which it was not trained; a
    Transformer-XL reads it in one window without memory.

    Args:
        name: of the document.
        document: its tokens with segment indices, without special tokens.
        tokens: of the input at most, special tokens included; models with trained positions have a limit of their own.
        layers: from 1; None: all.
        head: from 1; None: the mean over the heads.

    Raises:
        InputError: there is no such layer or head.
    """
    config = model.card.model
    for what, wanted, most in (("layer", layers or (), config.layers), ("head", [head or 1], config.heads)):
        for number in wanted:
            if not 1 <= number <= most:
                raise InputError(f"attention.{what}", f"{model.name} has {most}, and no number {number}")
    if config.reads == "streams":
        model = model.at(window=tokens, memory=0)
    batch = model.batch_of([document], tokens).to(model.device)
    with torch.inference_mode(), record_attention() as found:
        model.network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
    sentence_T, paragraph_T = (batch.positions_BTP[0, :, column].cpu().numpy() for column in (2, 3))
    paragraphs_T = _numbered(paragraph_T)
    chosen = range(1, config.layers + 1) if layers is None else layers
    weights = {}
    for layer in chosen:
        weights_HTT = found[layer - 1].weights_BHTS[0].float().cpu().numpy()
        weights[layer] = weights_HTT.mean(axis=0) if head is None else weights_HTT[head - 1]
    return DocumentAttention(
        name,
        _numbered(sentence_T, paragraph_T),
        paragraphs_T,
        is_own(batch.ids_BT[0]).cpu().numpy(),
        found[0].allowed_BHTS[0, 0].expand(len(paragraphs_T), -1).cpu().numpy(),
        weights,
    )


def _numbered(*indices_T: np.ndarray) -> np.ndarray:
    """(T,) 0, 1, 2, ... where one of the indices changes from a token to the next."""
    changes = np.zeros(len(indices_T[0]), dtype=bool)
    for index_T in indices_T:
        changes[1:] |= index_T[1:] != index_T[:-1]
    numbers: np.ndarray = changes.cumsum()
    return numbers
