"""Fine-tuning to find the answer to a question as a span of its context: one linear layer, start and end logits.

Devlin et al. (2019), sections 4.2 and 4.3, as Bai et al. (2021) follow them for Table 6. The first special token stands
for "no answer here": it is the target of a window without the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.data.batch import Batch, Tensors, collate
from quartet.data.passages import SPECIALS, QuestionWindow, Spans, read_passages, windows
from quartet.scoring.device import groups_within
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction
from quartet.training.tuning import TaskModel, frame


@dataclass(frozen=True)
class SpanReading:
    """How questions are read.

    Attributes:
        max_length: tokens of an input, specials included; the model's own where that is less.
        stride: see :func:`quartet.data.passages.windows`.
        max_question: tokens of a question that are read; half of the input at most.
        max_answer: tokens of an answer at most.
        one_paragraph: the whole context is paragraph 1 (the released code); else its n paragraphs are 1 to n (paper).
        candidates: answers of each question that are kept beside the best.
    """

    max_length: int = 384
    stride: int = 128
    max_question: int = 64
    max_answer: int = 30
    one_paragraph: bool = False
    candidates: int = 20


@dataclass(frozen=True)
class _Item(Tensors):
    batch: Batch
    allowed_BT: Tensor
    targets_B2: Tensor


class SpanModel(TaskModel[QuestionWindow, _Item]):
    """softmax over the window's context tokens and the first special token, one for the start and one for the end."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.frame = frame(model)
        self.output = nn.Linear(model.card.model.dim, 2)

    def forward(self, item: _Item) -> Tensor:
        """(B, T, 2) logits of start and end, -inf at what cannot be either."""
        logits_BT2: Tensor = self.output(self.contextual(item.batch))
        return logits_BT2.masked_fill(~item.allowed_BT[..., None], -torch.inf)

    def batch(self, examples: Sequence[QuestionWindow]) -> _Item:
        rows = [example.row(*self.frame) for example in examples]
        batch = self.shaped(collate(rows, self.model.tokenizer.pad_id))
        allowed_BT = torch.zeros_like(batch.real_BT)
        for row, example in enumerate(examples):
            allowed_BT[row, example.first : len(example) - 1] = True
        allowed_BT[:, 0] = True
        return _Item(batch, allowed_BT, torch.tensor([example.target for example in examples]))

    def loss(self, item: _Item) -> Tensor:
        """The mean of the two cross-entropies."""
        return F.cross_entropy(self(item), item.targets_B2)


@dataclass(frozen=True)
class SpanTruncation:
    """What did not fit of a set.

    Attributes:
        questions: whose end was not read.
        lost: answers that no token stands for (their characters are nothing to the tokenizer).
        split: answers that are whole in no window: they are longer than half of it.
    """

    questions: int
    lost: int
    split: int


def question_windows(
    model: LanguageModel, questions: Sequence[SpanQuestion], reading: SpanReading, spans: Spans
) -> tuple[list[QuestionWindow], SpanTruncation]:
    """Every window of every question, in their order, with the first answer of each as the target.

    Args:
        spans: finds the sentences of a paragraph.
    """
    contexts = list(dict.fromkeys(question.context for question in questions))
    passages = dict(
        zip(contexts, read_passages(contexts, model.tokenizer, spans, reading.one_paragraph), strict=True)
    )
    longest = min(reading.max_length, model.card.model.max_length)
    most = min(reading.max_question, (longest - SPECIALS) // 2)
    found: list[QuestionWindow] = []
    cut = lost = split = 0
    for number, ids in enumerate(model.tokenizer.encode_batch([question.text for question in questions])):
        question, passage = questions[number], passages[questions[number].context]
        span = None
        if question.answers:
            answer = question.answers[0]
            span = passage.tokens_of(answer.start, answer.start + len(answer.text))
            lost += span is None
        cut += len(ids) > most
        mine = list(
            windows(number, np.array(ids[:most], dtype=np.int64), passage, longest, reading.stride, span)
        )
        split += span is not None and not any(window.answer for window in mine)
        found += mine
    return found, SpanTruncation(cut, lost, split)


def answer(
    reader: SpanModel,
    questions: Sequence[SpanQuestion],
    examples: Sequence[QuestionWindow],
    reading: SpanReading,
    advance: Callable[[int], object] = lambda _: None,
) -> list[SpanPrediction]:
    """The best spans of each question over all of its windows, and how much likelier "no answer" is.

    A span's score is the sum of its start and end logits. "No answer" has, of each window, the sum at its first token,
    and of a question the lowest of these (Devlin et al. 2019, section 4.3): one window that is sure to hold the answer
    is enough.

    Args:
        examples: every window of the questions.
        advance: called with the number of windows just read.
    """
    candidates: defaultdict[int, list[tuple[float, int, int]]] = defaultdict(list)
    null = np.full(len(questions), np.inf)
    for part in groups_within(examples, len, reader.model.device):
        with torch.inference_mode():
            logits_BT2 = (
                reader(reader.batch(part).to(torch.device(reader.model.device))).float().cpu().numpy()
            )
        for example, logits_T2 in zip(part, logits_BT2, strict=True):
            null[example.question] = min(null[example.question], float(logits_T2[0].sum()))
            shown = logits_T2[example.first : len(example) - 1]
            candidates[example.question] += [
                (score, first + example.start, last + example.start)
                for score, first, last in best_spans(
                    shown[:, 0], shown[:, 1], reading.max_answer, reading.candidates
                )
            ]
        advance(len(part))
    passages = {example.question: example.context for example in examples}
    return [
        _prediction(
            question,
            passages[number].characters,
            sorted(candidates[number], key=lambda one: (-one[0], *one[1:])),
            float(null[number]),
            reading.candidates,
        )
        for number, question in enumerate(questions)
    ]


def best_spans(
    start_T: np.ndarray, end_T: np.ndarray, longest: int, count: int
) -> list[tuple[float, int, int]]:
    """The `count` spans (score, first, last) with the highest sums of logits, of at most `longest` tokens."""
    if not len(start_T):
        return []
    scores_TT = start_T[:, None].astype(np.float64) + end_T
    length_TT = np.arange(len(end_T)) - np.arange(len(start_T))[:, None] + 1
    allowed = np.flatnonzero((length_TT >= 1) & (length_TT <= longest))
    scores = scores_TT.ravel()[allowed]
    kept = np.arange(len(scores)) if len(scores) <= count else np.argpartition(-scores, count - 1)[:count]
    kept = kept[np.lexsort((allowed[kept], -scores[kept]))]
    places = (divmod(int(allowed[one]), len(end_T)) for one in kept)
    return [(float(scores[one]), first, last) for one, (first, last) in zip(kept, places, strict=True)]


def _prediction(
    question: SpanQuestion,
    characters: np.ndarray,
    spans: list[tuple[float, int, int]],
    null: float,
    count: int,
) -> SpanPrediction:
    """Equal texts count once, with their best score."""
    texts: dict[str, float] = {}
    for score, first, last in spans:
        texts.setdefault(question.context[characters[first, 0] : characters[last, 1]], score)
    ranked = tuple(texts.items())[:count]
    return SpanPrediction(question.id, ranked, null - ranked[0][1] if ranked else 0.0)
