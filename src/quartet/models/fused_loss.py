"""Cross-entropy over a large vocabulary in little memory: the gradient is made where the logits lie, part by part."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.models.linear import input_gradient, product, weight_gradient

# The first exponential of a process is taken by one thread. Where several threads took it at once, one of them has been
# seen to get four digits alone, in one process of twelve: MKL, which has it on x86, sets itself up at its first call.
torch.zeros(1).exp_()

#: Bytes of logits that exist at a time, by the kind of device. Blocks over 32 MiB glibc maps afresh each time, and the
#: pages with them. A GPU needs enough rows to be full: of 26,000 rows of 30,522 pieces an H200 takes 29 ms in parts of
#: 24 MiB, 19 in parts of 512 MiB and of 2 GiB.
AT_ONCE = {"cpu": 24 << 20, "cuda": 512 << 20}

#: A GPU multiplies bfloat16 matrices whose rows begin at 16 bytes three times as fast as others (an H200, 26,000 x 512
#: by 30,522 against 30,528: 3.65 and 1.22 ms), so there the vocabulary is filled up to a multiple of this.
ALIGNED = {"cpu": 1, "cuda": 8}

#: Logits that are turned into their gradient together; on a CPU they stay in the cache meanwhile.
TILE = 1 << 18


def summed_cross_entropy(
    hidden_ND: Tensor,
    weight_VD: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    label_smoothing: float = 0.0,
    compiled: bool = False,
) -> Tensor:
    """The sum over N of -log softmax(h W^T + b)[target], in nats: a scalar in fp32.

    The same function as ``F.cross_entropy(F.linear(h, W, b), targets, reduction="sum", label_smoothing=…)``, with the
    products in autocast's type where autocast is on. Softmax minus what is wanted is all that the gradient needs of the
    logits, so it is made in the forward pass, in their place, for some rows at a time: memory does not grow with N x V.
    Its gradient can be taken once, and not be differentiated again.

    Args:
        compiled: the step from logits to gradient is one kernel by ``torch.compile``, and not several.
    """
    device = hidden_ND.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden_ND.dtype
    loss: Tensor = _Summed.apply(  # type: ignore[no-untyped-call]
        hidden_ND, weight_VD, bias_V, targets_N, dtype, label_smoothing, compiled
    )
    return loss


class _Summed(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden_ND: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor,
        targets_N: Tensor,
        dtype: torch.dtype,
        label_smoothing: float,
        compiled: bool,
    ) -> Tensor:
        summed = torch.promote_types(dtype, torch.float32)
        with torch.autocast(hidden_ND.device.type, enabled=False):
            kind = "cuda" if hidden_ND.is_cuda else "cpu"
            h_ND = hidden_ND.to(dtype)
            w_VD, b_V = _filled_up(weight_VD.to(dtype), bias_V.to(dtype), ALIGNED[kind])
            rows = max(1, AT_ONCE[kind] // (len(b_V) * h_ND.element_size()))
            loss = hidden_ND.new_zeros((), dtype=summed)
            grad_ND = torch.empty_like(h_ND)
            grad_VD: Tensor | None = None
            grad_V = torch.zeros_like(bias_V, dtype=summed)
            for at in range(0, len(h_ND), rows):
                part = slice(at, at + rows)
                logits_NV = product(h_ND[part], w_VD, b_V)
                loss += _to_gradient(logits_NV, targets_N[part], grad_V, label_smoothing, compiled)
                grad_ND[part] = input_gradient(logits_NV, w_VD)
                grad_VD = weight_gradient(logits_NV, h_ND[part], grad_VD).to(summed)
        if grad_VD is None:
            grad_VD = torch.zeros_like(weight_VD, dtype=summed)
        grad_VD = grad_VD[: len(bias_V)]
        ctx.save_for_backward(grad_ND, grad_VD, grad_V)
        ctx.types = hidden_ND.dtype, weight_VD.dtype, bias_V.dtype
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        # Scaled in their place, for the weight's is large; PyTorch refuses to give them a second time then.
        grads = (
            saved.mul_(grad).to(dtype) for saved, dtype in zip(ctx.saved_tensors, ctx.types, strict=True)
        )
        return (*grads, None, None, None, None)


def _filled_up(weight_VD: Tensor, bias_V: Tensor, multiple: int) -> tuple[Tensor, Tensor]:
    """As many rows as `multiple` divides; the new ones are of tokens that nothing predicts."""
    missing = -len(bias_V) % multiple
    if not missing:
        return weight_VD, bias_V
    return F.pad(weight_VD, (0, 0, 0, missing)), F.pad(bias_V, (0, missing), value=-torch.inf)


def _to_gradient(
    logits_NV: Tensor, targets_N: Tensor, summed_V: Tensor, label_smoothing: float, compiled: bool
) -> Tensor:
    """The summed loss. Logits become softmax minus what is wanted, in place; the sum of rows is added to summed_V.

    There may be more columns than tokens (summed_V): of these no logit is above minus infinity.
    """
    loss = logits_NV.new_zeros((), dtype=torch.promote_types(logits_NV.dtype, torch.float32))
    step = len(logits_NV) if logits_NV.is_cuda else max(1, TILE // logits_NV.shape[1])
    of_tile = _compiled_tile() if compiled else _of_tile
    for at in range(0, len(logits_NV), step):
        loss -= of_tile(logits_NV[at : at + step], targets_N[at : at + step, None], summed_V, label_smoothing)
    return loss


@cache
def _compiled_tile() -> Callable[[Tensor, Tensor, Tensor, float], Tensor]:
    return torch.compile(_of_tile, dynamic=True)


def _of_tile(tile: Tensor, targets_N1: Tensor, summed_V: Tensor, label_smoothing: float) -> Tensor:
    """As :func:`_to_gradient`, of rows that are done together; minus their loss.

    One-hot is wanted, or with smoothing a mixture of it and the uniform distribution.
    """
    tokens = len(summed_V)
    sure, even = 1 - label_smoothing, label_smoothing / tokens
    logprobs = torch.log_softmax(tile, dim=-1, dtype=torch.promote_types(tile.dtype, torch.float32))
    right = sure * logprobs.gather(1, targets_N1).sum()
    if even:
        right = right + even * logprobs[:, :tokens].sum()
    gradient = logprobs.exp_()
    gradient.scatter_add_(1, targets_N1, gradient.new_full(targets_N1.shape, -sure))
    if even:
        gradient[:, :tokens] -= even
    summed_V += gradient.sum(0)[:tokens]
    tile.copy_(gradient)
    return right
