"""AdamW with its groups, and the learning-rate schedules."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from quartet.training.config import TrainingConfig


def schedule(config: TrainingConfig) -> Callable[[int], float]:
    """The factor on the peak rate at each step, from 0 to steps - 1.

    It rises linearly over the warm-up; the decay starts where the warm-up ends and reaches 0 after the last step.
    """
    warmup = round(config.warmup * config.steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        if config.schedule == "constant":
            return 1.0
        left = max(0, config.steps - step) / max(1, config.steps - warmup)
        return left if config.schedule == "linear" else 0.5 * (1.0 - math.cos(math.pi * left))

    return factor


def build_optimiser(network: nn.Module, config: TrainingConfig) -> tuple[torch.optim.AdamW, LambdaLR]:
    """AdamW with bias correction; weight decay on matrices and tables, none on biases and normalisation."""
    decayed = [parameter for parameter in network.parameters() if parameter.dim() > 1]
    spared = [parameter for parameter in network.parameters() if parameter.dim() <= 1]
    optimiser = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": config.weight_decay},
            {"params": spared, "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        betas=config.betas,
        fused=True,
    )
    return optimiser, LambdaLR(optimiser, schedule(config))
