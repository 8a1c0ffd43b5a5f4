"""How fine-tuning on GLUE is searched: batch sizes, learning rates, epochs, and what all runs have in common."""

from __future__ import annotations

from itertools import product
from typing import Literal, NamedTuple

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from quartet.config.types import Count, Positive, Share, Size

#: What stands for an input. ``cls``: the last layer's output at the special token that has seen all of it: the first
#: ([CLS] or [BOS]); for a causal model, whose first token sees nothing, the last ([SEP] or [EOS]). ``mean``: the mean
#: of the outputs at the texts' own tokens, for models that were trained without looking at a special token.
Pooling = Literal["cls", "mean"]

_STRICT = ConfigDict(extra="forbid")


class Point(NamedTuple):
    """One choice of the grid."""

    batch_size: int
    learning_rate: float
    epochs: int


@dataclass(frozen=True)
class Plan:
    """One training: its learning rate falls to 0 over `epochs`, and it is read after some of them."""

    batch_size: int
    learning_rate: float
    epochs: int
    read_after: tuple[int, ...]

    @property
    def points(self) -> list[Point]:
        return [Point(self.batch_size, self.learning_rate, epochs) for epochs in self.read_after]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Grid:
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

    def plans(self, own_schedule: bool) -> list[Plan]:
        """The trainings that try all of it, see `Protocol.own_schedule`."""
        each = [(epochs, (epochs,)) for epochs in self.epochs]
        return [
            Plan(batch_size, rate, epochs, read_after)
            for batch_size, rate in product(self.batch_size, self.learning_rate)
            for epochs, read_after in (each if own_schedule else [(self.epochs[-1], self.epochs)])
        ]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Protocol:
    """What holds for all tasks and choices.

    Attributes:
        seeds: of the new layers, the order of the examples and the dropout; each choice is trained once a seed.
        limit: training examples, drawn at random; 0: all.
        max_length: tokens of an input, special tokens included; 0: the model's own length.
        pooling: see `Pooling`.
        warmup: share of the steps in which the rate rises.
        own_schedule: each number of epochs is a training of its own, whose rate falls to 0 at its end (the paper's grid
            is then 72 trainings a seed, of 468 epochs). False: of each batch size and rate there is one training, of
            the most epochs, that is read after each number of them: its rate is above 0 at the earlier ones (9
            trainings, of 90 epochs).
    """

    seeds: tuple[Size, ...]
    limit: Size = 0
    max_length: Size = 0
    pooling: Pooling = "cls"
    warmup: Share = 0.0
    own_schedule: bool = False

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds {list(self.seeds)} must hold one seed at least, and none twice")
