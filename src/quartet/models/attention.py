"""Multi-head attention over a source that need not be the query's own sequence, and the post-norm layer around it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import ModelConfig
from quartet.kernels.attention import fused_attention
from quartet.kernels.dropout import Dropout
from quartet.kernels.linear import Linear


@dataclass(frozen=True)
class VisibleKeys:
    """Which keys each query may see, the same in all layers.

    A query that may see none is shown all of them, and what it gathers is then put to zero: so no gradient reaches the
    source from it, on every device.

    Attributes:
        shown_B1TS: True where query t is shown key s.
        some_B1T1: False at the queries that may see none; None: there is no such query.
    """

    shown_B1TS: Tensor
    some_B1T1: Tensor | None

    @classmethod
    def of(cls, allowed_B1TS: Tensor) -> VisibleKeys:
        """From True where query t may see key s, broadcastable."""
        some_B1T1 = allowed_B1TS.any(dim=-1, keepdim=True)
        if some_B1T1.is_cpu and not torch.compiler.is_compiling() and bool(some_B1T1.all()):
            return cls(allowed_B1TS, None)  # on a GPU to ask would take longer than to multiply by ones
        return cls(allowed_B1TS | ~some_B1T1, some_B1T1)


class MultiHeadAttention(nn.Module):
    """Scaled dot-product attention with separate inputs for queries and for keys and values.

    T-TA needs them apart: its queries move from layer to layer, its keys and values do not (Shin et al. 2020, Eq. 2).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.dropout = config.attention_dropout
        self.query = Linear(config.dim, config.dim)
        self.key = Linear(config.dim, config.dim)
        self.value = Linear(config.dim, config.dim)
        self.output = Linear(config.dim, config.dim)

    def forward(
        self, query_BTD: Tensor, source_BSD: Tensor, visible: VisibleKeys | None, causal: bool = False
    ) -> Tensor:
        """Attend from each query to the source.

        Args:
            visible: which keys; None: every key (or, with `causal`, every key up to the query's own place).

        Returns:
            (B, T, D). A query that may see nothing gets the zero context (before the output projection's bias).
        """
        return self.gather(
            self.query(query_BTD), self.key(source_BSD), self.value(source_BSD), visible, causal
        )

    def gather(
        self,
        q_BTD: Tensor,
        k_BSD: Tensor,
        v_BSD: Tensor,
        visible: VisibleKeys | None,
        causal: bool = False,
    ) -> Tensor:
        """The same from projected queries, keys and values."""
        q_BHTK, k_BHSK, v_BHSK = (
            projected.unflatten(-1, (self.heads, -1)).transpose(1, 2) for projected in (q_BTD, k_BSD, v_BSD)
        )
        dropout = self.dropout if self.training else 0.0
        if visible is None:
            context_BHTK = fused_attention(q_BHTK, k_BHSK, v_BHSK, dropout=dropout, causal=causal)
        else:
            assert not causal, "give either a mask or causal"
            context_BHTK = fused_attention(q_BHTK, k_BHSK, v_BHSK, mask=visible.shown_B1TS, dropout=dropout)
            if visible.some_B1T1 is not None:
                context_BHTK = context_BHTK * visible.some_B1T1
        output: Tensor = self.output(context_BHTK.transpose(1, 2).flatten(2))
        return output


class FeedForward(nn.Module):
    """Two position-wise linear maps with an (exact) GELU between them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.inner = Linear(config.dim, config.inner)
        self.outer = Linear(config.inner, config.dim)

    def forward(self, x_BTD: Tensor) -> Tensor:
        output: Tensor = self.outer(F.gelu(self.inner(x_BTD)))
        return output


class PostNormLayer(nn.Module):
    """Norm(Add(q, attention)), then Norm(Add(x, FeedForward(x))): Eq. 1 of Shin et al. 2020, and BERT's layer.

    The residual runs along the query only.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config)
        self.attention_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, query_BTD: Tensor, source_BSD: Tensor, visible: VisibleKeys | None, causal: bool = False
    ) -> Tensor:
        return self.joined(query_BTD, self.attention(query_BTD, source_BSD, visible, causal))

    def joined(self, query_BTD: Tensor, attended_BTD: Tensor) -> Tensor:
        """The layer's output from its queries and what they have gathered."""
        x_BTD = self.attention_norm(query_BTD + self.dropout(attended_BTD))
        output: Tensor = self.feed_forward_norm(x_BTD + self.dropout(self.feed_forward(x_BTD)))
        return output
