"""How a model is trained: steps, batches, optimiser and schedule."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Count = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(gt=0.0)]
Decay = Annotated[float, Field(ge=0.0, lt=1.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class TrainingConfig:
    """The ``training:`` block of a model in params.yaml.

    Attributes:
        steps: optimiser steps.
        batch_size: inputs a step (for streams: parallel streams).
        learning_rate: the peak rate.
        warmup: share of the steps in which the rate rises linearly from 0.
        schedule: after the warm-up, ``linear`` or ``cosine`` decay to 0, or ``constant``.
        weight_decay: AdamW's, on matrices only (not on biases and normalisation).
        betas: Adam's two decay rates.
        clip: largest norm of the gradient (0: no clipping).
        validate_every: steps between two points of the validation curve.
        validation_batches: batches of the validation split behind each point (0: all).
        checkpoint_every: steps between two resume points.
        mask_probability: share of tokens that MLM selects (of which 80 % [MASK], 10 % random, 10 % kept).
        loss_on_specials: whether [BOS]/[EOS] or [CLS]/[SEP] are targets of the LAE loss too (the released T-TA).
    """

    steps: Count
    batch_size: Count
    learning_rate: Rate
    warmup: Share = 0.1
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: Annotated[float, Field(ge=0.0)] = 0.01
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    clip: Annotated[float, Field(ge=0.0)] = 1.0
    validate_every: Count = 100
    validation_batches: Annotated[int, Field(ge=0)] = 0
    checkpoint_every: Count = 500
    mask_probability: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.15
    loss_on_specials: bool = False
