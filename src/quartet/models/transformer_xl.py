"""Transformer-XL and, with segment positions, Segatron-XL (Bai et al. 2021, Eq. 1-3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import ModelConfig
from quartet.kernels.attention import fused_attention
from quartet.kernels.dropout import Dropout
from quartet.kernels.linear import Linear
from quartet.models.network import Memory, Network
from quartet.models.positions import RelativePhases
from quartet.models.relative_scores import RelativeScores, ReleasedScores, exact_scores


class RelativeAttention(nn.Module):
    """Eq. 1: (q + u) . k + (q + v) . W_R R, over the memory and the window, causal.

    The position term is a score of each pair (see :mod:`quartet.models.relative_scores`) that one attention kernel adds
    to the content's: no tensor of T x S x D is made.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.width = config.dim // config.heads
        self.dropout = config.attention_dropout
        self.query = Linear(config.dim, config.dim, bias=False)
        self.key = Linear(config.dim, config.dim, bias=False)
        self.value = Linear(config.dim, config.dim, bias=False)
        self.position = Linear(config.dim, config.dim, bias=False)
        self.output = Linear(config.dim, config.dim, bias=False)

    def forward(
        self,
        x_BTD: Tensor,
        source_BSD: Tensor,
        content_bias_HK: Tensor,
        position_bias_HK: Tensor,
        relative: RelativeScores,
    ) -> Tensor:
        """(B, T, D) queries over (B, S, D) sources, of which the last T are the queries' own places."""
        tokens, keys = x_BTD.shape[1], source_BSD.shape[1]
        q_BTHK = self.query(x_BTD).unflatten(-1, (self.heads, self.width))
        k_BHSK = self.key(source_BSD).unflatten(-1, (self.heads, self.width)).transpose(1, 2)
        v_BHSK = self.value(source_BSD).unflatten(-1, (self.heads, self.width)).transpose(1, 2)
        scores_BHTS = relative.scores(
            q_BTHK + position_bias_HK, self.position.weight.unflatten(0, (self.heads, self.width))
        )
        future_TS = torch.ones(tokens, keys, dtype=torch.bool, device=x_BTD.device).triu(keys - tokens + 1)
        context_BHTK = fused_attention(
            (q_BTHK + content_bias_HK).transpose(1, 2),
            k_BHSK,
            v_BHSK,
            mask=(scores_BHTS * self.width**-0.5).masked_fill(future_TS, -torch.inf),
            dropout=self.dropout if self.training else 0.0,
            scale=self.width**-0.5,
        )
        output: Tensor = self.output(context_BHTK.transpose(1, 2).flatten(2))
        return output


class RecurrentLayer(nn.Module):
    """Post-norm layer whose keys and values are the memory followed by the window."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = RelativeAttention(config)
        self.attention_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.inner = Linear(config.dim, config.inner)
        self.outer = Linear(config.inner, config.dim)
        self.feed_forward_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x_BTD: Tensor, source_BSD: Tensor, u_HK: Tensor, v_HK: Tensor, relative: RelativeScores
    ) -> Tensor:
        attended_BTD = self.attention(x_BTD, source_BSD, u_HK, v_HK, relative)
        x_BTD = self.attention_norm(x_BTD + self.dropout(attended_BTD))
        fed_BTD = self.outer(self.dropout(F.relu(self.inner(x_BTD))))
        output: Tensor = self.feed_forward_norm(x_BTD + self.dropout(fed_BTD))
        return output


class TransformerXL(Network):
    """A causal Transformer with memory and relative positions; the kinds of position make it Segatron-XL.

    ``positions: [sequence]`` is Transformer-XL; ``[token, sentence, paragraph]`` is Segatron-XL. The positions of the
    memory are cached beside its hidden states.

    Attributes:
        memory_length: tokens that the memory keeps; an evaluation may set another length than the training's.
        vectors: names of the two biases of attention (Dai et al. 2019, u and v), a vector a head.
    """

    vectors = ("u_HK", "v_HK")

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.memory_length = config.recurrence.memory
        self.phases = RelativePhases(config.dim, config.positions)
        self.u_HK = nn.Parameter(torch.empty(config.heads, config.dim // config.heads))
        self.v_HK = nn.Parameter(torch.empty(config.heads, config.dim // config.heads))
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(RecurrentLayer(config) for _ in range(config.layers))
        self.initialise()

    def embed(self, ids_BT: Tensor, positions_BTP: Tensor) -> Tensor:
        """Token embeddings scaled by sqrt(D); relative positions add nothing here."""
        x_BTD: Tensor = self.tokens(ids_BT) * self.config.dim**0.5
        return x_BTD

    def forward(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        x_BTD = self.dropout(self.embed(ids_BT, positions_BTP))
        positions_BSP = positions_BTP
        if memory is not None:
            positions_BSP = torch.cat([memory.positions_BMP, positions_BTP], dim=1)
        relative = self._relative(positions_BSP, real_BT)
        inputs_BSD = []
        for depth, layer in enumerate(self.layers):
            source_BSD = x_BTD if memory is None else torch.cat([memory.hidden_LBMD[depth], x_BTD], dim=1)
            inputs_BSD.append(source_BSD)
            x_BTD = layer(x_BTD, source_BSD, self.u_HK, self.v_HK, relative)
        return self.dropout(x_BTD), self._remember(inputs_BSD, positions_BSP)

    def _relative(self, positions_BSP: Tensor, real_BT: Tensor) -> RelativeScores:
        if self.config.recurrence.offset == "exact":
            return exact_scores(self.phases, positions_BSP, real_BT.shape[1])
        return ReleasedScores.of(self.phases, positions_BSP, real_BT)

    def _remember(self, inputs_BSD: list[Tensor], positions_BSP: Tensor) -> Memory | None:
        """The last M tokens of each layer's input, without their graph."""
        length = self.memory_length
        if length == 0:
            return None
        hidden_LBMD = torch.stack([source_BSD[:, -length:].detach() for source_BSD in inputs_BSD])
        return Memory(hidden_LBMD, positions_BSP[:, -length:])
