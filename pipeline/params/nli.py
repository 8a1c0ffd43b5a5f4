"""The section ``nli:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.config.types import Count, Positive, Share, Size


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Nli:
    """Siamese fine-tuning on entailment, see :mod:`quartet.training.siamese`.

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
