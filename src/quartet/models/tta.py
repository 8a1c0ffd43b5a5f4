"""T-TA: the Transformer-based Text Autoencoder (Shin et al. 2020, section 4.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.data.batch import is_own
from quartet.models.attention import PostNormLayer, Visible
from quartet.models.config import ModelConfig
from quartet.models.isolated import JointKeysValues
from quartet.models.network import Memory, Network
from quartet.models.positions import AbsolutePositions


class TTA(Network):
    """Every token predicted from all others in one pass.

    Two things keep a token from its own prediction: the diagonal of every attention is masked, and keys and values are
    the embedding layer's output in every layer (input isolation), so that what a query gathers in one layer can never
    come back as another token's key in the next. Only queries move; they start from the positions alone.

    With ``tta.mask: word`` the diagonal becomes blocks: a piece does not see the other pieces of its own word, so that
    log p(piece | everything but its word) is what the outputs give. Where words begin is taken from the ids, so how
    many pieces a word has is known to its prediction.
    """

    continues_V: Tensor

    def __init__(
        self, config: ModelConfig, vocabulary: int, mask_id: int, continues_V: Tensor | None
    ) -> None:
        """Args:
        mask_id: of [MASK], for ``first_query: mask_token``.
        continues_V: (V,) True for ids that continue a word; needed for ``mask: word``.
        """
        super().__init__(config, vocabulary)
        self.mask_id = mask_id
        if config.tta.mask == "word":
            assert continues_V is not None, "mask: word needs to know where words begin"
            assert len(continues_V) == vocabulary, "the tokenizer is another one"
            self.register_buffer("continues_V", continues_V, persistent=False)
        self.positions = AbsolutePositions(config)
        self.embedding_norm = nn.LayerNorm(config.dim, eps=config.norm_epsilon)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(PostNormLayer(config) for _ in range(config.layers))
        self._joint = JointKeysValues()
        self.initialise()
        self.positions.initialise(config)

    def embed(self, ids_BT: Tensor, positions_BTP: Tensor) -> Tensor:
        """The isolated input, K = V = X + P (normalised unless ``tta.normalise_inputs`` is off)."""
        x_BTD: Tensor = self.tokens(ids_BT) + self.positions(positions_BTP)
        return self.embedding_norm(x_BTD) if self.config.tta.normalise_inputs else x_BTD

    def first_query(self, positions_BTP: Tensor) -> Tensor:
        """Q1 = P, or [MASK] + P as in the released code; normalised like the inputs, and dependent on no token."""
        query_BTD: Tensor = self.positions(positions_BTP)
        if self.config.tta.first_query == "mask_token":
            query_BTD = query_BTD + self.tokens(torch.tensor([self.mask_id], device=query_BTD.device))
        return self.embedding_norm(query_BTD) if self.config.tta.normalise_inputs else query_BTD

    def train(self, mode: bool = True) -> TTA:
        self._joint.forget()
        return super().train(mode)

    def forward(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        source_BTD, query_BTD, visible = self._inputs(ids_BT, positions_BTP, real_BT, slice(None))
        for layer in self.layers:
            query_BTD = layer(query_BTD, source_BTD, visible)
        return query_BTD, None

    def represent_inner(self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor) -> Tensor:
        """As the base class says. No query is any other's key: those that nobody asks for are left out, exactly.

        Keys and values do not wait for the layers below: those of all layers are one product.
        """
        columns = slice(1, max(1, ids_BT.shape[1] - 1))
        source_BTD, query_BTD, visible = self._inputs(ids_BT, positions_BTP, real_BT, columns)
        layers = [layer for layer in self.layers if isinstance(layer, PostNormLayer)]
        keys_values = self._joint([layer.attention for layer in layers], source_BTD)
        for layer, (k_BTD, v_BTD) in zip(layers, keys_values, strict=True):
            q_BTD = layer.attention.query(query_BTD)
            query_BTD = layer.joined(query_BTD, layer.attention.gather(q_BTD, k_BTD, v_BTD, visible))
        outer = ids_BT.shape[1] - query_BTD.shape[1]
        return F.pad(query_BTD, (0, 0, min(1, outer), max(0, outer - 1)))

    def _inputs(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, columns: slice
    ) -> tuple[Tensor, Tensor, Visible]:
        """Keys and values (B, T, D), the first queries (B, columns, D) at some columns, and what those may see."""
        source_BTD = self.dropout(self.embed(ids_BT, positions_BTP))
        query_BTD = self.dropout(self.first_query(positions_BTP))[:, columns]
        visible = Visible.of((self.others(ids_BT) & real_BT[:, None, None, :])[:, :, columns])
        return source_BTD, query_BTD, visible

    def others(self, ids_BT: Tensor) -> Tensor:
        """(B or 1, 1, T, T) True where key s may be seen by query t: another token, or a token of another word."""
        if self.config.tta.mask == "token":
            return ~torch.eye(ids_BT.shape[1], dtype=torch.bool, device=ids_BT.device)[None, None]
        starts_BT = ~self.continues_V[ids_BT]
        # A special token is no word that could go on: a text may be cut within a word, behind its opening [BOS].
        starts_BT[:, 1:] |= ~is_own(ids_BT[:, :-1])
        word_BT = starts_BT.cumsum(dim=1)
        return (word_BT[:, :, None] != word_BT[:, None, :])[:, None]
