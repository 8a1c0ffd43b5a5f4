"""What a validation reads of its split: all of it, or the beginning of every document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quartet.config.model import ModelConfig
from quartet.config.training import BatchBy
from quartet.data import open_source
from quartet.data.batch import BatchSource
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


def validation_source(
    config: ModelConfig,
    corpus: EncodedCorpus,
    tokenizer: TextTokenizer,
    *,
    batch_size: int,
    batches: int,
    batch_by: BatchBy = "tokens",
    few_shapes: bool = False,
) -> BatchSource:
    """A source of about `batches` batches (0: of the whole split), which come from all documents alike.

    Models that read alike read the same text. Memory goes on within a document, as in training.

    Args:
        batch_size, batch_by, few_shapes: see :func:`quartet.data.open_source`.
    """

    def source(text: EncodedCorpus) -> BatchSource:
        return open_source(
            config,
            text,
            tokenizer,
            batch_size=batch_size,
            seed=None,
            batch_by=batch_by,
            few_shapes=few_shapes,
        )

    whole = source(corpus)
    every = whole.steps_per_epoch
    return source(beginnings(corpus, batches / every)) if 0 < batches < every else whole


def beginnings(corpus: EncodedCorpus, share: float) -> EncodedCorpus:
    """The first sentences of each document: `share` of the document, and of all documents together.

    Of documents with less than a sentence to give, every so many give one.
    """
    first_D, next_D = corpus.document_offsets[:-1], corpus.document_offsets[1:]
    counts_D = np.ceil(share * next_D).astype(np.int64) - np.ceil(share * first_D).astype(np.int64)
    read = np.flatnonzero(counts_D)
    first_D, counts_D = first_D[read], counts_D[read]
    sentences = np.concatenate(
        [np.arange(first, first + count) for first, count in zip(first_D, counts_D, strict=True)]
    )
    bounds_D2 = corpus.sentence_offsets[np.stack([first_D, first_D + counts_D], axis=1)]
    return replace(
        corpus,
        ids=np.concatenate([corpus.ids[start:stop] for start, stop in bounds_D2.tolist()]),
        sentence_offsets=np.concatenate([[0], np.cumsum(np.diff(corpus.sentence_offsets)[sentences])]),
        sentence_paragraphs=corpus.sentence_paragraphs[sentences],
        sentence_words=corpus.sentence_words[sentences],
        sentence_headings=corpus.sentence_headings[sentences],
        document_offsets=np.concatenate([[0], np.cumsum(counts_D)]),
        doc_ids=tuple(corpus.doc_ids[number] for number in read.tolist()),
    )
