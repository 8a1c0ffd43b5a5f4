"""The special tokens that join several texts for a model."""

from __future__ import annotations

from quartet.errors import InputError
from quartet.scoring.language_model import LanguageModel


def frame(model: LanguageModel) -> tuple[int, int]:
    """The token before the texts and the one after each: [BOS] and [EOS], or [CLS] and [SEP] for models of spans.

    Raises:
        InputError: the model reads streams: it has no inputs of several texts.
    """
    reads = model.card.model.reads
    if reads == "streams":
        raise InputError(
            model.name, "reads streams: questions with a passage need a model of sentences or spans"
        )
    tokenizer = model.tokenizer
    return (
        (tokenizer.bos_id, tokenizer.eos_id) if reads == "sentences" else (tokenizer.cls_id, tokenizer.sep_id)
    )
