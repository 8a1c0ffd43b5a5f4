"""A question and its context as inputs: [CLS] question [SEP] a window of the context [SEP]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quartet.data.batch import Row
from quartet.data.passages import Passage, in_paragraph, join_texts, sentence_row

#: Special tokens of an input: before the question, between, behind the context.
SPECIALS = 3


@dataclass(frozen=True)
class QuestionWindow:
    """One input, kept as references: the row is made when a batch is.

    Attributes:
        question: its number in the set.
        ids: of the question's tokens.
        context: the whole context.
        start, stop: the tokens of it that are in the window.
        answer: the first and the last token of the answer, counted in the context; None: the window does not hold it.
    """

    question: int
    ids: np.ndarray
    context: Passage
    start: int
    stop: int
    answer: tuple[int, int] | None = None

    def __len__(self) -> int:
        return SPECIALS + len(self.ids) + self.stop - self.start

    @property
    def first(self) -> int:
        """The place in the row of the window's first context token."""
        return SPECIALS - 1 + len(self.ids)

    @property
    def target(self) -> tuple[int, int]:
        """The places in the row of the answer's first and last token; that of [CLS] where the answer is absent."""
        if self.answer is None:
            return 0, 0
        shift = self.first - self.start
        return self.answer[0] + shift, self.answer[1] + shift

    def row(self, first: int, separator: int) -> Row:
        """The input: the question is paragraph 0, sentence 0; the n paragraphs of the context are 1 to n.

        (The paper's "1 to n + 1" counts one too many: Bai et al. 2021, "Reading Comprehension".) A window keeps the
        indices that its tokens have in the whole context.

        Args:
            first: the id of [CLS] (or [BOS]).
            separator: the id of [SEP] (or [EOS]).
        """
        inside = slice(self.start, self.stop)
        shown = Row(self.context.row.ids[inside], self.context.row.segments[inside])
        return join_texts([sentence_row(self.ids), in_paragraph(shown, 1)], first, separator)[0]


def windows(
    question: int,
    ids: np.ndarray,
    context: Passage,
    max_length: int,
    stride: int,
    answer: tuple[int, int] | None = None,
) -> Iterator[QuestionWindow]:
    """Windows of the context that together hold all of it, each as long as the input allows.

    Args:
        ids: of the question's tokens, fewer than ``max_length`` - 3.
        stride: tokens from the start of a window to that of the next, at most half of what a window holds: whatever is
            shorter than the other half is whole in one of them.
        answer: the first and the last token of the answer; a window that does not hold both has none.
    """
    room = max_length - SPECIALS - len(ids)
    assert room >= 1, (max_length, len(ids))
    step = max(1, min(stride, room // 2))
    start = 0
    while True:
        stop = min(start + room, len(context))
        held = answer is not None and start <= answer[0] and answer[1] < stop
        yield QuestionWindow(question, ids, context, start, stop, answer if held else None)
        if stop == len(context):
            return
        start += step
