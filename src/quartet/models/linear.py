"""Linear maps by the quicker of the two matrix libraries that PyTorch has on x86 CPUs.

``torch.nn.functional.linear`` takes float32 products to MKL, which is two to four times as slow as oneDNN on AMD's
processors (``docs/speed.md``) and no quicker on Intel's; bfloat16 products go to oneDNN anyway.
"""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@cache
def has_onednn() -> bool:
    """Whether this PyTorch multiplies float32 matrices by oneDNN, on a processor that it was made for."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return x86 and torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def product(x: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """x W^T + b without a gradient, for x (..., I) on any device and in any type."""
    if x.is_cpu and x.dtype == weight_OI.dtype == torch.float32 and x.numel() and has_onednn():
        output: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight_OI, bias_O, "none", [], "")
        return output
    return F.linear(x, weight_OI, bias_O)


def linear(x: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """``F.linear``: x W^T + b for x (..., I), with its gradients."""
    if (
        not x.is_cpu
        or x.dtype != torch.float32
        or torch.is_autocast_enabled("cpu")
        or torch.compiler.is_compiling()
    ):
        return F.linear(x, weight_OI, bias_O)
    if not torch.is_grad_enabled():
        return product(x, weight_OI, bias_O)
    output: Tensor = _Linear.apply(x, weight_OI, bias_O)  # type: ignore[no-untyped-call]
    return output


class _Linear(torch.autograd.Function):
    """The gradients are two products of the same kind."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight_OI: Tensor, bias_O: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight_OI)
        return product(x, weight_OI, bias_O)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight_OI = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        grad_NO, x_NI = grad.flatten(0, -2), x.flatten(0, -2)
        return (
            product(grad, weight_OI.T) if of_x else None,
            product(grad_NO.T, x_NI.T) if of_weight else None,
            grad_NO.sum(0) if of_bias else None,
        )


class Linear(nn.Linear):
    """``nn.Linear`` through :func:`linear`: the same parameters under the same names."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def quicken(network: nn.Module) -> None:
    """Make every ``nn.Linear`` of a network that others have built a :class:`Linear`, in its place."""
    for module in network.modules():
        if type(module) is nn.Linear:
            module.__class__ = Linear
