"""The sections ``squad:`` and ``race:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.config.types import Count, Positive, ProperShare, Share, Size

#: ``paper``: as Bai et al. 2021 say; ``released``: as their code does. Each that is named is a training of its own.
Positions = Literal["paper", "released"]

_STRICT = ConfigDict(extra="forbid", validate_default=True)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class QuestionTuning:
    """Fine-tuning on questions about passages.

    Attributes:
        positions: ``paper``: the question is paragraph 0 and comes first, the passage's paragraphs are 1 to n.
            ``released``: in SQuAD the whole context is paragraph 1; in RACE the passage comes first, and question and
            option are the paragraph after it.
        max_length: tokens of an input, special tokens included; the model's own where that is less.
        train_limit: questions to train on, spread evenly over the set (0: all).
        judged_limit: questions to judge, of each split, spread alike (0: all).
    """

    epochs: Count
    batch_size: Count
    learning_rate: Positive
    warmup: Share = 0.1
    positions: tuple[Positions, ...] = ("paper",)
    max_length: Annotated[int, Field(ge=16)]
    train_limit: Size = 0
    judged_limit: Size = 0

    def __post_init__(self) -> None:
        if not self.positions or len(set(self.positions)) < len(self.positions):
            raise ValueError(f"positions {list(self.positions)}: name paper, released or both, each once")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Squad(QuestionTuning):
    """SQuAD; the defaults are those of the Segatron paper (Table 6), as far as it gives them, then BERT's.

    Attributes:
        stride: tokens from a window of the context to the next, at most half of a window.
        max_question, max_answer: tokens of a question that are read, and of an answer that is given.
        held_out: of a set that comes as one file (role ``all``), the share of articles to judge.
    """

    epochs: Count = 4
    batch_size: Count = 128
    learning_rate: Positive = 3e-5
    max_length: Annotated[int, Field(ge=16)] = 384
    stride: Count = 128
    max_question: Count = 64
    max_answer: Count = 30
    held_out: ProperShare = 0.25


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Race(QuestionTuning):
    """RACE; the Segatron paper gives no settings for it: the defaults are those of its SQuAD, with fewer a batch."""

    epochs: Count = 4
    batch_size: Count = 32
    learning_rate: Positive = 3e-5
    max_length: Annotated[int, Field(ge=16)] = 512
