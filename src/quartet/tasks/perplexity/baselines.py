"""What models' losses are compared with: the entropy of the tokens' own frequencies, the least loss without context."""

from __future__ import annotations

import numpy as np

from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.perplexity import (
    UnknownWords,
    perplexity_measures,
    unigram_entropy,
    unigram_logprobs,
)
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.perplexity.held_out import held_out_sentences
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import UNKNOWN_ID


def unigram(
    run: Evaluation, dataset: str, reading: str, valid: EncodedCorpus, test: EncodedCorpus, limit: int
) -> None:
    """Add the rows of one encoding of a corpus, on its validation and on its test tokens.

    Args:
        reading: tells the encodings of a corpus apart; empty where there is one.
        limit: tokens of each test document; 0: all.
    """
    scale = "frequencies of the validation tokens themselves"
    entropy = Measure(unigram_entropy([np.asarray(valid.ids)]), len(valid.ids))
    system = EvaluatedSystem("unigram", "cpu", scale, reading=reading)
    run.add({"loss": entropy}, system, dataset, "valid", "training")
    texts = held_out_sentences(test, limit)
    measures = perplexity_measures(
        unigram_logprobs(texts.ids),
        texts.words,
        False,
        run.samples,
        run.seed,
        texts.documents,
        unknown=UnknownWords([int((ids == UNKNOWN_ID).sum()) for ids in texts.ids]),
    )
    kept = {"entropy": measures["loss"], "ppl": measures["ppl"], "oov": measures["oov"]}
    scale = "frequencies of the test tokens themselves"
    run.add(kept, EvaluatedSystem("unigram", "cpu", scale, reading=reading), dataset, table="perplexity")
