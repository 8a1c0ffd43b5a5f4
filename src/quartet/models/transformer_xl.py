"""Transformer-XL and, with segment positions, Segatron-XL (Bai et al. 2021, Eq. 1-3)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.models.config import ModelConfig
from quartet.models.network import Memory, Network
from quartet.models.positions import RelativePhases
from quartet.models.released_offsets import by_distance, offsets_to_last


@dataclass(frozen=True)
class Relative:
    """The position side of Eq. 1.

    Attributes:
        phases_BSD: the key side: of each place, or (offsets as released) of each distance.
        angles_BSF: the angles of each place, for the query side; None: offsets as released, which have none.
    """

    phases_BSD: Tensor
    angles_BSF: Tensor | None


class RelativeAttention(nn.Module):
    """Eq. 1: (q + u) . k + (q + v) . W_R R, over the memory and the window, causal.

    With exact offsets both terms are dot products (see :class:`RelativePhases`), so they are laid side by side and one
    fused attention computes them: no tensor of T x S x D is made.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.width = config.dim // config.heads
        self.dropout = config.attention_dropout
        self.query = nn.Linear(config.dim, config.dim, bias=False)
        self.key = nn.Linear(config.dim, config.dim, bias=False)
        self.value = nn.Linear(config.dim, config.dim, bias=False)
        self.position = nn.Linear(config.dim, config.dim, bias=False)
        self.output = nn.Linear(config.dim, config.dim, bias=False)

    def forward(
        self,
        x_BTD: Tensor,
        source_BSD: Tensor,
        content_bias_HK: Tensor,
        position_bias_HK: Tensor,
        relative: Relative,
    ) -> Tensor:
        """(B, T, D) queries over (B, S, D) sources, of which the last T are the queries' own places."""
        tokens, keys = x_BTD.shape[1], source_BSD.shape[1]
        q_BTHK = self.query(x_BTD).unflatten(-1, (self.heads, self.width))
        k_BHSK = self.key(source_BSD).unflatten(-1, (self.heads, self.width)).transpose(1, 2)
        v_BHSK = self.value(source_BSD).unflatten(-1, (self.heads, self.width)).transpose(1, 2)
        # g = W_R^T (q + v), one vector of width D a head.
        g_BTHD = torch.einsum(
            "bthk,hkd->bthd",
            q_BTHK + position_bias_HK,
            self.position.weight.unflatten(0, (self.heads, self.width)),
        )
        queries_BHTX = (q_BTHK + content_bias_HK).transpose(1, 2)
        keys_BHSX = k_BHSK
        mask_TS = torch.ones(tokens, keys, dtype=torch.bool, device=x_BTD.device).tril(keys - tokens)
        if relative.angles_BSF is not None:
            turned_BTHD = RelativePhases.queries(g_BTHD, relative.angles_BSF[:, -tokens:])
            queries_BHTX = torch.cat([queries_BHTX, turned_BTHD.transpose(1, 2)], dim=-1)
            phases_BHSD = relative.phases_BSD[:, None].expand(-1, self.heads, -1, -1)
            keys_BHSX = torch.cat([k_BHSK, phases_BHSD], dim=-1)
        else:
            scores_BHTS = torch.einsum("bthd,bkd->bhtk", g_BTHD, relative.phases_BSD)
            mask_TS = (by_distance(scores_BHTS) * self.width**-0.5).masked_fill(~mask_TS, -torch.inf)
        context_BHTK = F.scaled_dot_product_attention(
            queries_BHTX,
            keys_BHSX,
            v_BHSK,
            attn_mask=mask_TS,
            dropout_p=self.dropout if self.training else 0.0,
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
        self.inner = nn.Linear(config.dim, config.inner)
        self.outer = nn.Linear(config.inner, config.dim)
        self.feed_forward_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x_BTD: Tensor, source_BSD: Tensor, u_HK: Tensor, v_HK: Tensor, relative: Relative
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
    """

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.memory_length = config.recurrence.memory
        self.phases = RelativePhases(config.dim, config.positions)
        self.u_HK = nn.Parameter(torch.empty(config.heads, config.dim // config.heads))
        self.v_HK = nn.Parameter(torch.empty(config.heads, config.dim // config.heads))
        self.dropout = nn.Dropout(config.dropout)
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

    def _relative(self, positions_BSP: Tensor, real_BT: Tensor) -> Relative:
        if self.config.recurrence.offset == "exact":
            angles_BSF = self.phases.angles(positions_BSP - positions_BSP[:, :1])
            return Relative(RelativePhases.keys(angles_BSF), angles_BSF)
        last_B = positions_BSP.shape[1] - real_BT.shape[1] + real_BT.sum(dim=1) - 1
        offsets_BSP = offsets_to_last(positions_BSP, last_B)
        return Relative(RelativePhases.keys(self.phases.angles(offsets_BSP)), None)

    def _remember(self, inputs_BSD: list[Tensor], positions_BSP: Tensor) -> Memory | None:
        """The last M tokens of each layer's input, without their graph."""
        length = self.memory_length
        if length == 0:
            return None
        hidden_LBMD = torch.stack([source_BSD[:, -length:].detach() for source_BSD in inputs_BSD])
        return Memory(hidden_LBMD, positions_BSP[:, -length:])
