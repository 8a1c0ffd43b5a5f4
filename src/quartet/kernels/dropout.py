"""Dropout whose masks a CPU draws in a quarter of the time. The plain twin is ``nn.Dropout``, with other masks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from quartet.kernels import is_plain

#: Values that 16 random bits can have: a place is zeroed where its number is among the lowest.
NUMBERS = 1 << 16


def rate(p: float) -> float:
    """The probability with which a place is zeroed: p to the next of 1 / 65,536."""
    return round(p * NUMBERS) / NUMBERS


def dropout_mask(x: Tensor, p: float) -> Tensor:
    """What x is multiplied by: 0 with probability :func:`rate` (p), and else 1 / (1 - rate (p)).

    PyTorch's generator gives a CPU 32 random bits in some nanoseconds, and ``nn.Dropout`` uses 64 of them for each
    place. Four places share 64 here.
    """
    count = x.numel()
    words = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    numbers = words.view(torch.int16)[:count].view(x.shape)
    mask = (numbers >= round(p * NUMBERS) - NUMBERS // 2).to(x.dtype)
    return mask.mul_(1.0 / (1.0 - rate(p)))


class _DropoutFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        factor = dropout_mask(x, p)
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (factor,) = ctx.saved_tensors
        return grad * factor, None


class Dropout(nn.Dropout):
    """``nn.Dropout``, with the masks of :func:`dropout_mask` on a CPU."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape, of which each value is zeroed with probability p in training, the others scaled up."""
        if not self.training:
            return x
        if not (0 < rate(self.p) < 1 and x.is_cpu) or torch.compiler.is_compiling() or is_plain():
            return super().forward(x)
        output: Tensor = _DropoutFunction.apply(x, self.p)  # type: ignore[no-untyped-call]
        return output
