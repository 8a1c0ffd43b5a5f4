"""The sections of params.yaml about evaluations that have no file of their own, typed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag
from pydantic.dataclasses import dataclass

from quartet.config.types import Count, Positive, Share, Size, Text

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Evaluate:
    """Which models go through which evaluation."""

    rerank: list[str]
    sts: list[str]
    wordsim: list[str]
    finetune: list[str]
    glue: list[str]
    nli: list[str]
    squad: list[str]
    race: list[str]
    blimp: list[str]
    attention: list[str]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Perplexity:
    """How test documents are scored.

    Attributes:
        tokens_per_document: how much of each is scored (0: all): bidirectional models run once a token.
        carry_memory: models with memory read all documents as one stream; False: each on its own.
        input_lengths: models with memory read the same tokens again with window and memory of each of these lengths.
    """

    tokens_per_document: Size
    carry_memory: bool = False
    input_lengths: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        if list(self.input_lengths) != sorted(set(self.input_lengths)):
            raise ValueError(f"input_lengths {list(self.input_lengths)} do not ascend")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Weights:
    """A grid of interpolation weights."""

    start: Share
    stop: Share
    step: Positive

    def __post_init__(self) -> None:
        if self.start > self.stop:
            raise ValueError(f"start {self.start} is larger than stop {self.stop}")


def _exact_or_grid(value: object) -> object:
    if not isinstance(value, dict | Weights) and value != "exact":
        raise ValueError("exact, or a grid {start: ..., stop: ..., step: ...}, was expected")
    return value


#: The weights that are tried: a grid, or all that there are.
Tried = Annotated[
    Annotated[Weights, Tag("[grid]")] | Annotated[Literal["exact"], Tag("[exact]")],
    Discriminator(lambda value: "[exact]" if value == "exact" else "[grid]"),
    BeforeValidator(_exact_or_grid),
]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Rerank:
    """Which weights are tried, and how token log-probabilities make a score.

    Attributes:
        lengths: the most reference words of each range but the last, for errors by length; none: no such table.
        combine: pairs of systems to weigh together: names under ``evaluate.rerank``, or those of their readings.
        unknown: what is done with tokens that a model does not know, see `quartet.scoring.unknown`.
    """

    weights: Tried
    score: Literal["sum", "mean"]
    lengths: tuple[Count, ...]
    combine: tuple[tuple[Text, Text], ...]
    unknown: Literal["spread", "warn", "error"] = "spread"

    def __post_init__(self) -> None:
        if list(self.lengths) != sorted(set(self.lengths)):
            raise ValueError(f"lengths {list(self.lengths)} do not ascend")
        for pair in self.combine:
            if pair[0] == pair[1] or list(self.combine).count(pair) > 1:
                raise ValueError(f"combine holds {list(pair)} twice or a system with itself")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Finetune:
    """Fine-tuning a pre-trained model on a classification task, judged by cross-validation."""

    folds: Annotated[int, Field(ge=2)]
    epochs: Count
    batch_size: Count
    learning_rate: Positive
    warmup: Share = 0.1


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Word2Vec:
    """The baseline of word and text similarity, trained on the models' own tokens."""

    dimension: Count
    window: Count
    epochs: Count
    negative: Count
    skip_gram: bool
    minimum_count: Count


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Runtime:
    """The speed benchmark of the first seed's models, all timed in turns.

    Attributes:
        words: of the sentences that are timed.
        repeats: calls of each that count.
        hypotheses: texts of the list that is timed, of 20 words each; 0: none.
        bert: time a BERT of transformers too, with random weights and the sizes of the first masked model.
    """

    models: list[str]
    words: list[Count]
    repeats: Count
    hypotheses: Size = 0
    bert: bool = False
