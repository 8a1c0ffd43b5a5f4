"""Attention in one of PyTorch's fused kernels, given what each device computes quickly; and in four steps."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.kernels import is_plain

#: A GPU's fused kernels take heads whose width this divides; others are filled up with zeros, which changes nothing.
#: Heads of 41 (Transformer-XL's 410 / 10) filled up to 48 took 0.8 ms in the place of 1.5 on an H200.
WIDTHS = {"cpu": 1, "cuda": 8}


def attends_in_float32(device: torch.device) -> bool:
    """Whether attention leaves autocast's type: a CPU's kernel is several times as slow backwards in bfloat16.

    The products around it, which are most of the work, keep the short type.
    """
    return device.type == "cpu" and torch.is_autocast_enabled("cpu")


def fused_attention(
    q_BHTK: Tensor,
    k_BHSK: Tensor,
    v_BHSK: Tensor,
    *,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """softmax(q k^T scale + mask) v in one kernel of PyTorch: (B, H, T, V's width).

    Args:
        scale: None: the reciprocal root of q's width.
    """
    if is_plain():
        return plain_attention(q_BHTK, k_BHSK, v_BHSK, mask, dropout, causal, scale)
    width = q_BHTK.shape[-1]
    missing = -width % WIDTHS["cuda" if q_BHTK.is_cuda else "cpu"]
    if missing:
        q_BHTK, k_BHSK, v_BHSK = (F.pad(each, (0, missing)) for each in (q_BHTK, k_BHSK, v_BHSK))
        scale = scale or width**-0.5
    if attends_in_float32(q_BHTK.device):
        with torch.autocast("cpu", enabled=False):
            mask = mask if mask is None or mask.dtype == torch.bool else mask.float()
            gathered = F.scaled_dot_product_attention(
                q_BHTK.float(),
                k_BHSK.float(),
                v_BHSK.float(),
                attn_mask=mask,
                dropout_p=dropout,
                is_causal=causal,
                scale=scale,
            )
    else:
        gathered = F.scaled_dot_product_attention(
            q_BHTK, k_BHSK, v_BHSK, attn_mask=mask, dropout_p=dropout, is_causal=causal, scale=scale
        )
    return gathered[..., :width]


def plain_attention(
    q_BHTK: Tensor,
    k_BHSK: Tensor,
    v_BHSK: Tensor,
    mask: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
) -> Tensor:
    """The plain twin of :func:`fused_attention`: products, mask, softmax and dropout one after the other."""
    scores_BHTS = q_BHTK @ k_BHSK.transpose(-2, -1) * (scale or q_BHTK.shape[-1] ** -0.5)
    if causal:
        mask = torch.ones(scores_BHTS.shape[-2:], dtype=torch.bool, device=scores_BHTS.device).tril()
    if mask is not None and mask.dtype == torch.bool:
        scores_BHTS = scores_BHTS.masked_fill(~mask, -torch.inf)
    elif mask is not None:
        scores_BHTS = scores_BHTS + mask
    return F.dropout(scores_BHTS.softmax(dim=-1), dropout) @ v_BHSK
