"""How the tasks tune a pre-trained model: classification, GLUE, entailment, SQuAD and RACE."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Literal, NamedTuple

from pydantic import Field
from pydantic.dataclasses import dataclass

from quartet.config.types import STRICT, Count, Positive, ProperShare, Seed, Share, Size

#: What stands for an input. ``cls``: the last layer's output at the special token that has seen all of it: the first
#: ([CLS] or [BOS]); for a causal model, whose first token sees nothing, the last ([SEP] or [EOS]). ``mean``: the mean
#: of the outputs at the texts' own tokens, for models that were trained without looking at a special token.
Pooling = Literal["cls", "mean"]
#: ``paper``: as Bai et al. 2021 say; ``released``: as their code does. Each that is named is a training of its own.
QuestionPositions = Literal["paper", "released"]
#: Tokens of an input that has one of each text of a pair, and three special ones.
LEAST = 5


@dataclass(frozen=True, kw_only=True, config=STRICT)
class FinetuneSettings:
    """Fine-tuning a pre-trained model on a classification task, judged by cross-validation."""

    folds: Annotated[int, Field(ge=2)]
    epochs: Count
    batch_size: Count
    learning_rate: Positive
    warmup: Share = 0.1


class GridPoint(NamedTuple):
    """One choice of the grid."""

    batch_size: int
    learning_rate: float
    epochs: int


@dataclass(frozen=True)
class GridTraining:
    """One training: its learning rate falls to 0 over `epochs`, and it is read after some of them."""

    batch_size: int
    learning_rate: float
    epochs: int
    read_after: tuple[int, ...]

    @property
    def points(self) -> list[GridPoint]:
        return [GridPoint(self.batch_size, self.learning_rate, epochs) for epochs in self.read_after]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class HyperparameterGrid:
    """The choices of one task; each is tried with each.

    The paper's (Bai et al. 2021, "General Language Understanding"): batches of 16, 24 and 32, rates of 2e-5, 3e-5 and
    5e-5 and 3 to 10 epochs for CoLA, MRPC, RTE, SST-2 and STS-B; 256, 3e-5 and 3 epochs for QQP, MNLI and QNLI.
    """

    batch_size: tuple[Count, ...]
    learning_rate: tuple[Positive, ...]
    epochs: tuple[Count, ...]

    def __post_init__(self) -> None:
        for name in ("batch_size", "learning_rate", "epochs"):
            values = getattr(self, name)
            if not values or list(values) != sorted(set(values)):
                raise ValueError(f"{name} {list(values)} must hold one value at least, rising")

    def plans(self, own_schedule: bool) -> list[GridTraining]:
        """The trainings that try all of it, see `GlueProtocol.own_schedule`."""
        each = [(epochs, (epochs,)) for epochs in self.epochs]
        return [
            GridTraining(batch_size, rate, epochs, read_after)
            for batch_size, rate in product(self.batch_size, self.learning_rate)
            for epochs, read_after in (each if own_schedule else [(self.epochs[-1], self.epochs)])
        ]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class GlueProtocol:
    """What holds for all tasks and choices.

    Attributes:
        seeds: of the new layers, the order of the examples and the dropout; each choice is trained once a seed.
        limit: training examples, drawn at random; 0: all.
        max_length: tokens of an input, special tokens included, at least 5 for a pair; 0: the model's own length.
        pooling: see `Pooling`.
        warmup: share of the steps in which the rate rises.
        own_schedule: each number of epochs is a training of its own, whose rate falls to 0 at its end (the paper's grid
            is then 72 trainings a seed, of 468 epochs). False: of each batch size and rate there is one training, of
            the most epochs, that is read after each number of them: its rate is above 0 at the earlier ones (9
            trainings, of 90 epochs).
    """

    seeds: tuple[Seed, ...]
    limit: Size = 0
    max_length: Size = 0
    pooling: Pooling = "cls"
    warmup: Share = 0.0
    own_schedule: bool = False

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds {list(self.seeds)} must hold one seed at least, and none twice")
        if 0 < self.max_length < LEAST:
            raise ValueError(
                f"max_length {self.max_length} holds no pair of texts: write 0, or {LEAST} or more"
            )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class GlueSettings(GlueProtocol):
    """Fine-tuning on the sets of the kind ``glue``: a :class:`GlueProtocol`, and what is tried.

    Attributes:
        default: the grid of a set that is not under `tasks`.
        tasks: the grids of others, by the set's name under ``tasks:`` of params.yaml.
    """

    default: HyperparameterGrid
    tasks: dict[str, HyperparameterGrid] = Field(default_factory=dict)

    def grid(self, name: str) -> HyperparameterGrid:
        """The grid of the set `name`."""
        return self.tasks.get(name, self.default)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class NliSettings:
    """Siamese fine-tuning on entailment, see :mod:`quartet.tasks.nli.tuning`.

    Attributes:
        sets: the entries of ``tasks:`` of kind nli whose train files are read, one after the other.
        limit: pairs of all of them together, drawn at random (0: all).
        max_length: tokens that are read of a sentence in training, special tokens included.
        random_control: the same tuning of the untrained network too.
    """

    sets: list[str]
    epochs: Count
    batch_size: Count
    learning_rate: Positive
    warmup: Share
    limit: Size
    max_length: Annotated[int, Field(ge=3)]
    random_control: bool

    def __post_init__(self) -> None:
        if len(set(self.sets)) < len(self.sets):
            raise ValueError(f"sets {self.sets} name one twice")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class QuestionSettings:
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
    positions: tuple[QuestionPositions, ...] = ("paper",)
    max_length: Annotated[int, Field(ge=16)]
    train_limit: Size = 0
    judged_limit: Size = 0

    def __post_init__(self) -> None:
        if not self.positions or len(set(self.positions)) < len(self.positions):
            raise ValueError(f"positions {list(self.positions)}: name paper, released or both, each once")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SquadSettings(QuestionSettings):
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


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RaceSettings(QuestionSettings):
    """RACE; the Segatron paper gives no settings for it: the defaults are those of its SQuAD, with fewer a batch."""

    epochs: Count = 4
    batch_size: Count = 32
    learning_rate: Positive = 3e-5
    max_length: Annotated[int, Field(ge=16)] = 512
