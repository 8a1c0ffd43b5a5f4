"""Linear maps by the quicker of the two matrix libraries that PyTorch has on x86 CPUs. The plain twin is ``F.linear``.

``torch.nn.functional.linear`` takes float32 products to MKL, which is two to four times as slow as oneDNN on AMD's
processors with AVX-512, and quicker than oneDNN on those without. On Intel's it is slower for few rows, and quicker in
training, above all for the products of gradients, whose matrices lie across (``docs/speed.md``).

bfloat16 products go to oneDNN anyway, where the processor multiplies bfloat16. Where it does not, PyTorch's imitation
may take 60 times as long as float32. There the product of the same bfloat16 numbers is made in float32 and rounded to
bfloat16: what the instructions do too, which sum up in float32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.hardware.processor import processor_kind
from quartet.kernels import is_plain


@cache
def has_onednn() -> bool:
    """Whether this PyTorch multiplies float32 matrices by oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def product(x: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """x W^T + b without a gradient, for x (..., I) on any device and in any type."""
    if is_plain():
        return F.linear(x, weight_OI, bias_O)
    if _is_imitated(x):
        return product(x.float(), weight_OI.float(), None if bias_O is None else bias_O.float()).to(x.dtype)
    if _may_take_onednn(x, weight_OI):
        output: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight_OI, bias_O, "none", [], "")
        return output
    return F.linear(x, weight_OI, bias_O)


def input_gradient(grad: Tensor, weight_OI: Tensor) -> Tensor:
    """grad W (..., I) for grad (..., O): the gradient of :func:`product` with respect to x."""
    if _is_imitated(grad):
        return input_gradient(grad.float(), weight_OI.float()).to(grad.dtype)
    return grad @ weight_OI if processor_kind().is_intel else product(grad, weight_OI.T)


def weight_gradient(grad_NO: Tensor, x_NI: Tensor, earlier_OI: Tensor | None = None) -> Tensor:
    """grad^T x (O, I): the gradient of :func:`product` with respect to W.

    Args:
        earlier_OI: the same of other rows, in whose place the sum comes then. It may be of a wider type.
    """
    if _is_imitated(grad_NO):
        own_OI = weight_gradient(grad_NO.float(), x_NI.float()).to(grad_NO.dtype)
        return own_OI if earlier_OI is None else earlier_OI.add_(own_OI)
    by_onednn = _may_take_onednn(grad_NO, x_NI) and not processor_kind().is_intel
    if earlier_OI is not None and earlier_OI.dtype == grad_NO.dtype and not by_onednn:
        return earlier_OI.addmm_(grad_NO.T, x_NI)
    own_OI = product(grad_NO.T, x_NI.T) if by_onednn else grad_NO.T @ x_NI
    return own_OI if earlier_OI is None else earlier_OI.add_(own_OI)


def _may_take_onednn(x: Tensor, weight_OI: Tensor) -> bool:
    if not x.is_cpu or not x.dtype == weight_OI.dtype == torch.float32 or x.numel() == 0:
        return False
    return has_onednn() and (processor_kind().is_intel or processor_kind().has_avx512)


def _is_imitated(x: Tensor) -> bool:
    return x.is_cpu and x.dtype == torch.bfloat16 and not processor_kind().has_bfloat16


def linear(x: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """``F.linear``: x W^T + b for x (..., I), with its gradients."""
    if not x.is_cpu or torch.compiler.is_compiling() or is_plain():
        return F.linear(x, weight_OI, bias_O)
    if torch.is_autocast_enabled("cpu"):
        if processor_kind().has_bfloat16 or torch.get_autocast_dtype("cpu") != torch.bfloat16:
            return F.linear(x, weight_OI, bias_O)
        bias_O = None if bias_O is None else bias_O.bfloat16()
        with torch.autocast("cpu", enabled=False):
            return linear(x.bfloat16(), weight_OI.bfloat16(), bias_O)
    if _is_imitated(x):
        imitated: Tensor = _LinearFunction.apply(x, weight_OI, bias_O)  # type: ignore[no-untyped-call]
        return imitated
    if x.dtype != torch.float32:
        return F.linear(x, weight_OI, bias_O)
    if not torch.is_grad_enabled():
        return product(x, weight_OI, bias_O)
    if processor_kind().is_intel or not processor_kind().has_avx512:
        return F.linear(x, weight_OI, bias_O)
    output: Tensor = _LinearFunction.apply(x, weight_OI, bias_O)  # type: ignore[no-untyped-call]
    return output


class _LinearFunction(torch.autograd.Function):
    """All three products by the functions above."""

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
            input_gradient(grad, weight_OI) if of_x else None,
            weight_gradient(grad_NO, x_NI) if of_weight else None,
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
