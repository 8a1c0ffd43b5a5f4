"""Cross-entropy over a large vocabulary in little memory: the gradient is made where the logits lie, part by part.

``torch.nn.functional.linear_cross_entropy`` (2.13) takes the same time (0.99 of it for 2,048 x 512 by 30,522) and
agrees to 1e-6, but it rounds differently: every trained weight would change. It imitates bfloat16 slowly on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.kernels import is_plain
from quartet.kernels.linear import input_gradient, linear, product, weight_gradient

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

#: Logits of a tile of a target's log-probability, 256 rows by 2,048 of the vocabulary: 2 MiB.
TILE_ROWS, TILE_COLUMNS = 256, 2048


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
    if is_plain():
        return plain_cross_entropy(hidden_ND, weight_VD, bias_V, targets_N, label_smoothing)
    device = hidden_ND.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden_ND.dtype
    loss: Tensor = _SummedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden_ND, weight_VD, bias_V, targets_N, dtype, label_smoothing, compiled
    )
    return loss


def plain_cross_entropy(
    hidden_ND: Tensor, weight_VD: Tensor, bias_V: Tensor, targets_N: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The plain twin of :func:`summed_cross_entropy`, with all logits at once."""
    logits_NV = F.linear(hidden_ND, weight_VD, bias_V)
    if logits_NV.dtype != torch.float64:
        logits_NV = logits_NV.float()
    return F.cross_entropy(logits_NV, targets_N, reduction="sum", label_smoothing=label_smoothing)


class _SummedCrossEntropy(torch.autograd.Function):
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


def target_logprobs(hidden_ND: Tensor, targets_N: Tensor, weight_VD: Tensor, bias_V: Tensor) -> Tensor:
    """(N,) log-probabilities of targets without a gradient, from logits of which few exist at a time.

    A CPU takes tiles that stay in its cache, a GPU parts that fill it. The plain twin has all logits at once.
    """
    if is_plain() or hidden_ND.is_cuda:
        rows = len(targets_N) if is_plain() else AT_ONCE["cuda"] // (4 * len(bias_V))
        pairs = zip(hidden_ND.split(max(1, rows)), targets_N.split(max(1, rows)), strict=True)
        logits = ((linear(part, weight_VD, bias_V).float(), targets) for part, targets in pairs)
        return -torch.cat([F.cross_entropy(*each, reduction="none") for each in logits])
    parts = [
        _tiled_logprobs(hidden_ND[at : at + TILE_ROWS], targets_N[at : at + TILE_ROWS], weight_VD, bias_V)
        for at in range(0, len(targets_N), TILE_ROWS)
    ]
    return torch.cat(parts) if parts else hidden_ND.new_zeros(0)


def _tiled_logprobs(hidden_ND: Tensor, targets_N: Tensor, weight_VD: Tensor, bias_V: Tensor) -> Tensor:
    """Log-probabilities (N,) of targets, with the logits made and summed up tile by tile.

    On a CPU a tile stays in the cache, where (N, V) logits would go to memory and come back several times. Two sums of
    products give the target's logit, one here and one in its tile, so a target that is nearly certain may come out a
    rounding error above 0: it is 0 then.
    """
    sums = [
        _logsumexp(linear(hidden_ND, weight_VD[at : at + TILE_COLUMNS], bias_V[at : at + TILE_COLUMNS]))
        for at in range(0, len(bias_V), TILE_COLUMNS)
    ]
    targets_logit_N = (hidden_ND * weight_VD[targets_N]).sum(-1) + bias_V[targets_N]
    return torch.clamp(targets_logit_N - torch.logsumexp(torch.stack(sums), 0), max=0.0)


def _logsumexp(logits_NC: Tensor) -> Tensor:
    """As ``torch.logsumexp``, over the columns. Log-softmax is one pass over the tile, where that makes five."""
    return logits_NC[:, 0] - torch.log_softmax(logits_NC, dim=-1)[:, 0]
