"""Where a model's attention goes on test documents (Segatron paper, Figures 5 to 8)."""

from __future__ import annotations

import dataclasses

from quartet.config.evaluation import AttentionSettings
from quartet.data.segments import SegmentedTokens
from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.attention.maps import DocumentAttention, share_measures
from quartet.tasks.attention.reading import document_attention
from quartet.tasks.evaluation import Evaluation
from quartet.text.encoded_corpus import EncodedCorpus


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
