"""Fine-tuning to choose among options: each is read with the question and the passage, one linear layer scores it.

Bai et al. (2021), "Reading Comprehension", Table 7. The score is taken at the first special token; a causal network has
read nothing there, so at the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.data.batch import Batch, Row, Tensors, collate
from quartet.data.passages import (
    SPECIALS,
    Passage,
    Spans,
    in_paragraph,
    join_texts,
    read_passages,
    sentence_row,
)
from quartet.kernels.dropout import Dropout
from quartet.scoring.device import groups_within
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.race.data import ChoiceQuestion
from quartet.training.tuning import TaskModel, frame


@dataclass(frozen=True)
class TokenizedQuestion:
    """A question as token ids, which become rows when a batch is made.

    Attributes:
        options: the question and each option, one after the other.
        passage: what fits of the passage; the same tokens for all options.
        answer: the number of the right option.
        passage_first: the passage comes before the question.
    """

    options: tuple[np.ndarray, ...]
    passage: Row
    answer: int
    passage_first: bool

    def rows(self, first: int, separator: int) -> list[Row]:
        """An input an option.

        Paper: question and option are paragraph 0, sentence 0, and come first; the passage's n paragraphs are 1 to n.
        As released (`passage_first`): the passage's are 0 to n - 1, and question and option follow as the next one.

        Args:
            first: the id of [CLS] (or [BOS]).
            separator: the id of [SEP] (or [EOS]).
        """
        if not self.passage_first:
            behind = in_paragraph(self.passage, 1)
            return [join_texts([sentence_row(ids), behind], first, separator)[0] for ids in self.options]
        paragraphs = int(self.passage.segments[-1, 2]) + 1 if len(self.passage.ids) else 0
        return [
            join_texts([self.passage, in_paragraph(sentence_row(ids), paragraphs)], first, separator)[0]
            for ids in self.options
        ]


@dataclass(frozen=True)
class ChoiceTruncation:
    """What did not fit of a set.

    Attributes:
        questions: whose passage lost its end.
        tokens: of passages that were not read, summed over questions; of `of` tokens.
        texts: questions or options that lost their end.
    """

    questions: int
    tokens: int
    of: int
    texts: int


def read_choices(
    model: LanguageModel,
    questions: Sequence[ChoiceQuestion],
    max_length: int,
    spans: Spans,
    passage_first: bool = False,
) -> tuple[list[TokenizedQuestion], ChoiceTruncation]:
    """Questions as tokens; what is over the length is taken from the passage's end, the same for all four options.

    A question with an option may fill half of the input: over that, first the question loses its end, then the option.

    Args:
        max_length: tokens of an input, specials included; the model's own where that is less.
        spans: finds the sentences of a paragraph.
        passage_first: the released code's order, see :meth:`TokenizedQuestion.rows`.
    """
    longest = min(max_length, model.card.model.max_length) - SPECIALS
    texts = list(dict.fromkeys(question.passage for question in questions))
    passages: dict[str, Passage] = dict(zip(texts, read_passages(texts, model.tokenizer, spans), strict=True))
    asked = model.tokenizer.encode_batch([question.text for question in questions])
    options = iter(
        model.tokenizer.encode_batch([option for question in questions for option in question.options])
    )
    found = []
    shortened = tokens = total = pairs = 0
    for question, text in zip(questions, asked, strict=True):
        joint = []
        for _ in question.options:
            option = next(options)
            pairs += len(text) + len(option) > longest // 2
            option = option[: longest // 2]
            joint.append(np.array([*text[: longest // 2 - len(option)], *option], dtype=np.int64))
        whole = passages[question.passage]
        room = longest - max(map(len, joint))
        passage = Row(whole.row.ids[:room], whole.row.segments[:room])
        shortened += len(whole) > room
        tokens += max(0, len(whole) - room)
        total += len(whole)
        found.append(TokenizedQuestion(tuple(joint), passage, question.answer, passage_first))
    return found, ChoiceTruncation(shortened, tokens, total, pairs)


@dataclass(frozen=True)
class _Item(Tensors):
    """Rows of all options, question by question."""

    batch: Batch
    answers_B: Tensor


class MultipleChoiceModel(TaskModel[TokenizedQuestion, _Item]):
    """softmax over the options of one score each."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.frame = frame(model)
        self.dropout = Dropout(model.card.model.dropout)
        self.output = nn.Linear(model.card.model.dim, 1)

    def forward(self, item: _Item) -> Tensor:
        """(B, options) logits."""
        chosen_RD = self.special(self.contextual(item.batch), item.batch)
        scores_R1: Tensor = self.output(self.dropout(chosen_RD))
        return scores_R1.view(len(item.answers_B), -1)

    def batch(self, examples: Sequence[TokenizedQuestion]) -> _Item:
        rows = [row for example in examples for row in example.rows(*self.frame)]
        answers_B = torch.tensor([example.answer for example in examples])
        return _Item(self.shaped(collate(rows, self.model.tokenizer.pad_id)), answers_B)

    def loss(self, item: _Item) -> Tensor:
        return F.cross_entropy(self(item), item.answers_B)


def choose(
    chooser: MultipleChoiceModel,
    examples: Sequence[TokenizedQuestion],
    advance: Callable[[int], object] = lambda _: None,
) -> list[int]:
    """The number of the option with the highest score, of each question.

    Args:
        advance: called with the number of questions just done.
    """
    sizes = [
        len(example.options) * (SPECIALS + max(map(len, example.options)) + len(example.passage.ids))
        for example in examples
    ]
    found = [0] * len(examples)
    for part in groups_within(range(len(examples)), sizes.__getitem__, chooser.model.device):
        item = chooser.batch([examples[index] for index in part]).to(torch.device(chooser.model.device))
        with torch.inference_mode():
            best = chooser(item).argmax(1).tolist()
        for index, one in zip(part, best, strict=True):
            found[index] = one
        advance(len(part))
    return found
