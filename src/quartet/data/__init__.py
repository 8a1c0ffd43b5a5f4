"""Batches of what a model reads: single sentences, document spans, or windows of a stream."""

from __future__ import annotations

from quartet.config.model import ModelConfig
from quartet.config.training import BatchBy
from quartet.data.batch import BatchSource
from quartet.data.released_spans import ReleasedSpanSource
from quartet.data.sentences import SentenceSource
from quartet.data.spans import SpanSource
from quartet.data.streams import StreamSource
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


def open_source(
    config: ModelConfig,
    corpus: EncodedCorpus,
    tokenizer: TextTokenizer,
    *,
    batch_size: int,
    seed: int | None,
    batch_by: BatchBy = "tokens",
    few_shapes: bool = False,
) -> BatchSource:
    """The source that fits ``reads``; `seed` None gives evaluation order.

    Args:
        batch_by: of sentences alone.
        few_shapes: batches are padded to few lengths in any case: a GPU chooses its kernels anew for each shape.
    """
    if config.reads == "streams":
        return StreamSource(
            corpus,
            tokenizer,
            window=config.max_length,
            batch_size=batch_size,
            seed=seed,
            index=config.recurrence.index,
        )
    if config.reads == "spans":
        kind = SpanSource if config.spans.form == "paper" else ReleasedSpanSource
        return kind(corpus, tokenizer, max_length=config.max_length, batch_size=batch_size, seed=seed)
    return SentenceSource(
        corpus,
        tokenizer,
        max_length=config.max_length,
        batch_size=batch_size,
        seed=seed,
        batch_by=batch_by,
        few_shapes=few_shapes,
    )
