"""AdamW with its groups, and the learning-rate schedules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class OptimiserSettings(Protocol):
    """What an optimiser is made of; the fields are those of `quartet.config.training.TrainingConfig`."""

    @property
    def steps(self) -> int: ...
    @property
    def schedule_steps(self) -> int: ...
    @property
    def schedule(self) -> str: ...
    @property
    def warmup(self) -> float: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def betas(self) -> tuple[float, float]: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def clip(self) -> float: ...
    @property
    def precision(self) -> str: ...


def schedule(config: OptimiserSettings) -> Callable[[int], float]:
    """The factor on the peak rate at each step, from 0 to steps - 1.

    It rises linearly over the warm-up; the decay starts where the warm-up ends and reaches 0 after the schedule's last
    step. ``inverse-sqrt`` falls with the root of the step instead, and reaches no end.
    """
    total = config.schedule_steps or config.steps
    warmup = round(config.warmup * total)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        if config.schedule == "constant":
            return 1.0
        if config.schedule == "inverse-sqrt":
            return math.sqrt(max(1, warmup) / (step + 1))
        left = max(0, total - step) / max(1, total - warmup)
        return left if config.schedule == "linear" else 0.5 * (1.0 - math.cos(math.pi * left))

    return factor


def build_optimiser(network: nn.Module, config: OptimiserSettings) -> tuple[torch.optim.AdamW, LambdaLR]:
    """AdamW with bias correction; weight decay on matrices and tables, none on biases and normalisation.

    A module names in `vectors` what is a vector a head and only kept as a matrix.
    """
    vectors = {
        id(getattr(module, name)) for module in network.modules() for name in getattr(module, "vectors", ())
    }
    decayed: list[nn.Parameter] = []
    spared: list[nn.Parameter] = []
    for parameter in network.parameters():
        (spared if parameter.dim() <= 1 or id(parameter) in vectors else decayed).append(parameter)
    optimiser = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": config.weight_decay},
            {"params": spared, "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.epsilon,
        fused=config.precision != "fp16",  # where Lightning clips itself, it clips for no fused optimiser
    )
    return optimiser, LambdaLR(optimiser, schedule(config))
