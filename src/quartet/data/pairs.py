"""Texts and pairs of texts as the inputs of a fine-tuned encoder: [CLS] A [SEP] and [CLS] A [SEP] B [SEP]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quartet.config.model import Reads
from quartet.data.batch import Row
from quartet.data.passages import in_paragraph, join_texts, sentence_row
from quartet.text.tokenizer import TextTokenizer


@dataclass(frozen=True)
class PairInput:
    """One input.

    Attributes:
        row: ids and (token, sentence, paragraph) indices, special tokens included.
        cut: tokens that did not fit.
    """

    row: Row
    cut: int


def longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens two texts keep: one at a time is taken from the end of the longer one, of equal ones the second.

    >>> longest_first(10, 4, 9)
    (5, 4)
    >>> longest_first(10, 4, 5)
    (3, 2)
    """
    excess = max(0, first + second - room)
    level = min(excess, abs(first - second))  # until they are equally long
    rest = excess - level
    first, second = (first - level, second) if first > second else (first, second - level)
    return max(0, first - rest // 2), max(0, second - (rest + 1) // 2)


def pair_inputs(
    tokenizer: TextTokenizer,
    reads: Reads,
    firsts: Sequence[str],
    seconds: Sequence[str] | None,
    max_length: int,
) -> list[PairInput]:
    """Encode texts, or pairs of texts.

    The first text is paragraph 0 and the second paragraph 1, each of one sentence, 0, as the Segatron paper has it for
    GLUE ("General Language Understanding"): texts of several sentences are not divided. Models that read sentences know
    [BOS] and [EOS] in the places of [CLS] and [SEP]. What is over `max_length` is cut, the longer text first.

    Args:
        reads: what the model was trained on: ``sentences`` or ``spans``.
        seconds: as many as `firsts`; None for single texts.
        max_length: tokens of an input, special tokens included.

    Raises:
        ValueError: the model reads streams, or not even the special tokens fit.
    """
    parts = 1 if seconds is None else 2
    if reads == "streams" or max_length <= 1 + parts:
        raise ValueError(f"no pairs for a model that reads {reads} of {max_length} tokens")
    special = (tokenizer.bos_id, tokenizer.eos_id)
    if reads == "spans":
        special = (tokenizer.cls_id, tokenizer.sep_id)
    room = max_length - 1 - parts
    left = tokenizer.encode_batch(list(firsts))
    right = tokenizer.encode_batch(list(seconds)) if seconds is not None else [[] for _ in left]
    inputs = []
    for one, two in zip(left, right, strict=True):
        kept = longest_first(len(one), len(two), room)
        rows = [sentence_row(one[: kept[0]]), in_paragraph(sentence_row(two[: kept[1]]), 1)][:parts]
        inputs.append(PairInput(join_texts(rows, *special)[0], len(one) + len(two) - sum(kept)))
    return inputs
