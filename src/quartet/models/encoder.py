"""The Transformer encoder: uniLM with a causal mask, biLM and BERT without, SegaBERT with segment positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from quartet.config.model import ModelConfig
from quartet.kernels.dropout import Dropout
from quartet.models.attention import PostNormLayer, VisibleKeys
from quartet.models.network import Memory, Network
from quartet.models.positions import AbsolutePositions


class Encoder(Network):
    """BERT's encoder (post-norm, learned positions); causal when the objective is.

    SegaBERT is this encoder with three tables of positions in place of one (Bai et al. 2021, Figure 1b).
    """

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.causal = config.causal
        self.positions = AbsolutePositions(config)
        self.embedding_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(PostNormLayer(config) for _ in range(config.layers))
        self.initialise()
        self.positions.initialise(config)

    def embed(self, ids_BT: Tensor, positions_BTP: Tensor) -> Tensor:
        x_BTD: Tensor = self.embedding_norm(self.tokens(ids_BT) + self.positions(positions_BTP))
        return x_BTD

    def forward(
        self,
        ids_BT: Tensor,
        positions_BTP: Tensor,
        real_BT: Tensor,
        memory: Memory | None = None,
        causal_B: Tensor | None = None,
    ) -> tuple[Tensor, Memory | None]:
        """As of any network.

        Args:
            causal_B: the rows whose tokens see none of later ones, for an objective that is not causal as a whole.
        """
        x_BTD = self.dropout(self.embed(ids_BT, positions_BTP))
        visible = self._visible(real_BT) if causal_B is None else _visible_of_rows(real_BT, causal_B)
        for layer in self.layers:
            x_BTD = layer(x_BTD, x_BTD, visible, self.causal)
        return x_BTD, None

    def represent_one(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, place_B: Tensor
    ) -> Tensor:
        """In the last layer every token is a key, but only the token at the place is a query."""
        if self.causal:
            return super().represent_one(ids_BT, positions_BTP, real_BT, place_B)
        x_BTD = self.dropout(self.embed(ids_BT, positions_BTP))
        visible = self._visible(real_BT)
        *lower, last = self.layers
        for layer in lower:
            x_BTD = layer(x_BTD, x_BTD, visible)
        query_B1D = x_BTD[torch.arange(len(place_B), device=place_B.device), place_B][:, None]
        output_B1D: Tensor = last(query_B1D, x_BTD, visible)
        return output_B1D[:, 0]

    def _visible(self, real_BT: Tensor) -> VisibleKeys | None:
        """Padding stands on the right, so a causal query never sees any; a batch without padding needs no mask.

        On a GPU every batch has one: to ask would take longer.
        """
        if self.causal or (real_BT.is_cpu and bool(real_BT.all())):
            return None
        return VisibleKeys.of(real_BT[:, None, None, :])


def _visible_of_rows(real_BT: Tensor, causal_B: Tensor) -> VisibleKeys:
    length = real_BT.shape[1]
    before_TT = torch.ones(length, length, dtype=torch.bool, device=real_BT.device).tril()
    return VisibleKeys.of((real_BT[:, None] & (before_TT | ~causal_B[:, None, None]))[:, None])
