"""What a network attends to, taken down while it runs as ever: the fused attention keeps no probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

#: How far what the probabilities gather may be from the fused attention's own output, relative to the largest value.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class LayerAttention:
    """One layer's attention.

    Attributes:
        weights_BHTS: probabilities of query t over the keys s; they sum to 1.
        allowed_BHTS: True at keys that the query may see; B and H may be 1.
    """

    weights_BHTS: Tensor
    allowed_BHTS: Tensor


@contextmanager
def record_attention() -> Iterator[list[LayerAttention]]:
    """Within, every attention of this thread is written into the list, in the order in which the layers run.

    The network's output is that of the fused attention, untouched. Each record is checked against it: the probabilities
    times the values must give the same to `TOLERANCE`. It costs (B, H, T, S) numbers a layer.

    Raises:
        AssertionError: they do not (dropout is on, or an argument was given that this module does not know).
    """
    found: list[LayerAttention] = []
    with _AttentionRecorder(found):
        yield found


class _AttentionRecorder(TorchFunctionMode):
    def __init__(self, found: list[LayerAttention]) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        if func is F.scaled_dot_product_attention:
            attended, gathered = _explicit(*args, **(kwargs or {}))
            scale = max(1.0, float(gathered.abs().max()))
            assert torch.allclose(gathered, output, atol=TOLERANCE * scale, rtol=0), (
                "not what was attended to"
            )
            self.found.append(attended)
        return output


def _explicit(
    query_BHTK: Tensor,
    key_BHSK: Tensor,
    value_BHSK: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[LayerAttention, Tensor]:
    """softmax(q k^T scale + mask), and its product with the values."""
    assert dropout_p == 0, "record in evaluation mode"
    tokens, keys = query_BHTK.shape[2], key_BHSK.shape[2]
    scores_BHTS = query_BHTK @ key_BHSK.transpose(2, 3) * (scale or query_BHTK.shape[3] ** -0.5)
    allowed = torch.ones(tokens, keys, dtype=torch.bool, device=query_BHTK.device)
    if is_causal:
        allowed = allowed.tril()
    if attn_mask is not None:
        allowed = attn_mask if attn_mask.dtype == torch.bool else attn_mask > -torch.inf
        if attn_mask.dtype != torch.bool:
            scores_BHTS = scores_BHTS + attn_mask
    weights_BHTS = scores_BHTS.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    allowed_BHTS = allowed[(None,) * (4 - allowed.dim())]
    return LayerAttention(weights_BHTS, allowed_BHTS), weights_BHTS @ value_BHSK
