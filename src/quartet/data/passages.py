"""Passages as tokens that know their characters, sentence and paragraph; questions about them as inputs.

An input is [CLS] question [SEP] a window of the context [SEP].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quartet.data.batch import Row
from quartet.text.tokenizer import TextTokenizer

#: Where the sentences of a paragraph stand: see `quartet.text.segmenter.Segmenter.spans`.
Spans = Callable[[str], list[tuple[int, int]]]

_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*")


@dataclass(frozen=True)
class Passage:
    """A text of n tokens.

    Attributes:
        row: the ids, with their segment indices; paragraphs count from 0.
        characters: (n, 2) first character of each token in the text, and the one behind its last.
    """

    row: Row
    characters: np.ndarray

    def __len__(self) -> int:
        return len(self.row.ids)

    def tokens_of(self, start: int, stop: int) -> tuple[int, int] | None:
        """The first and the last token with a character from `start` to before `stop`; None: there is none."""
        inside = np.flatnonzero((self.characters[:, 1] > start) & (self.characters[:, 0] < stop))
        return (int(inside[0]), int(inside[-1])) if len(inside) else None


def read_passages(
    texts: Sequence[str], tokenizer: TextTokenizer, spans: Spans, one_paragraph: bool = False
) -> list[Passage]:
    """Texts whose paragraphs stand between line ends, tokenized whole.

    Args:
        spans: finds the sentences of a paragraph.
        one_paragraph: the sentences are numbered through the whole text, and all of it is paragraph 0.
    """
    encoded = tokenizer.encode_with_offsets(texts)
    return [
        Passage(Row(ids, _segments(text, characters[:, 0], spans, one_paragraph)), characters)
        for text, (ids, characters) in zip(texts, encoded, strict=True)
    ]


def sentence_row(ids: Sequence[int] | np.ndarray) -> Row:
    """Tokens as one sentence of one paragraph: all indices 0 but the token's own."""
    segments = np.zeros((len(ids), 3), dtype=np.int64)
    segments[:, 0] = np.arange(len(ids))
    return Row(np.asarray(ids, dtype=np.int64), segments)


def in_paragraph(row: Row, paragraph: int) -> Row:
    """The row with `paragraph` added to its paragraph indices."""
    return Row(row.ids, row.segments + np.array([0, 0, paragraph]))


def _segments(text: str, starts: np.ndarray, spans: Spans, one_paragraph: bool) -> np.ndarray:
    """(n, 3) token, sentence and paragraph index of the tokens that begin at the characters `starts`.

    Sentences and paragraphs without a token are not counted.
    """
    begins, owners = [], []
    for number, match in enumerate(_PARAGRAPH.finditer(text)):
        for start, _ in spans(match.group()):
            begins.append(match.start() + start)
            owners.append(0 if one_paragraph else number)
    if not len(starts) or not begins:
        return sentence_row(starts).segments
    sentence_N = np.searchsorted(np.array(begins), starts, side="right").clip(1) - 1
    owner_N = np.array(owners)[sentence_N]
    paragraph_N = np.unique(owner_N, return_inverse=True)[1]
    rank_N = np.unique(sentence_N, return_inverse=True)[1]
    in_paragraph_N = rank_N - _at_start(paragraph_N, rank_N)
    places_N = np.arange(len(starts))
    return np.stack([places_N - _at_start(rank_N, places_N), in_paragraph_N, paragraph_N], axis=1)


def _at_start(groups_N: np.ndarray, values_N: np.ndarray) -> np.ndarray:
    """(n,) the value at the first place of each place's group; the groups' numbers rise from 0."""
    first: np.ndarray = np.unique(groups_N, return_index=True)[1]
    found: np.ndarray = values_N[first[groups_N]]
    return found


def join_texts(parts: Sequence[Row], first: int, separator: int) -> tuple[Row, np.ndarray]:
    """One row of the parts in their order, a special token before them and a separator after each.

    A special token has the segment indices of its neighbour: the first one those of the first token, a separator those
    of the token before it (Bai et al. 2021, "Input"). So which part a token belongs to is told by what the parts' own
    indices say, e.g. paragraphs 0 and 1 for the two texts of a pair.

    Args:
        parts: token ids with (token, sentence, paragraph) indices; an empty one leaves only its separator.
        first: the id of [CLS] (or [BOS]).
        separator: the id of [SEP] (or [EOS]).

    Returns:
        The row, and for each of its tokens the number of its part, -1 at special tokens (n,).
    """
    ids, segments, numbers = [first], [np.zeros(3, dtype=np.int64)], [-1]
    for number, part in enumerate(parts):
        ids += [*part.ids.tolist(), separator]
        segments += list(part.segments)
        segments.append(segments[-1])
        numbers += [number] * len(part.ids) + [-1]
    known = next((row for row, number in zip(segments, numbers, strict=True) if number >= 0), segments[0])
    segments[0] = known
    return (
        Row(np.array(ids, dtype=np.int64), np.stack(segments).astype(np.int64)),
        np.array(numbers, dtype=np.int64),
    )


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
