"""Where a model's attention goes on test documents (Segatron paper, Figures 5 to 8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch

from quartet.config.evaluation import AttentionSettings
from quartet.config.model import POSITIONS
from quartet.data.batch import Row
from quartet.data.segments import SegmentedTokens
from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.scoring.attention_recorder import record_attention
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.attention.maps import DocumentAttention, share_measures
from quartet.tasks.evaluation import Evaluation
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import is_own


def evaluate(
    run: Evaluation, model: LanguageModel, dataset: str, corpus: EncodedCorpus, settings: AttentionSettings
) -> DocumentAttention:
    """Add the rows of each layer and of uniform attention, and return the maps of the document to draw.

    Args:
        dataset: what the corpus is called in the results.

    Raises:
        InputError: the document to draw is none of the corpus.
    """
    count = len(corpus.doc_ids)
    if settings.document >= count:
        raise InputError(
            "params.yaml: attention.document",
            f"{settings.document}, and the test documents are 0 to {count - 1}",
        )
    wanted = range(min(settings.documents or count, count))
    layers = settings.numbers(model.card.model.layers)
    head = settings.head if isinstance(settings.head, int) else None
    tokens = SegmentedTokens(corpus)
    numbers = sorted({*wanted, settings.document})
    articles = {
        number: document_attention(
            model, corpus.doc_ids[number], tokens.document(number), settings.tokens, layers, head
        )
        for number in run.track(numbers, f"{model.name}: documents", len(numbers))
    }
    measured = [articles[number] for number in wanted]
    system = EvaluatedSystem(model.name, model.device, model.scale, model.seed)
    for layer in (*layers, None):
        read = dataclasses.replace(system, reading="uniform" if layer is None else f"layer-{layer}")
        run.add(share_measures(measured, layer, run.samples, model.seed), read, dataset)
    run.say(f"{model.name}: attention of layers {layers} on {len(measured)} documents")
    return articles[settings.document]


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
    sentence_T, paragraph_T = (
        batch.positions_BTP[0, :, POSITIONS.index(kind)].cpu().numpy() for kind in ("sentence", "paragraph")
    )
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
