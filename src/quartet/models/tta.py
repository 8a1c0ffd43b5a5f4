"""T-TA: the Transformer-based Text Autoencoder (Shin et al. 2020, section 4.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import ModelConfig
from quartet.kernels.dropout import Dropout
from quartet.kernels.tta_tables import ProjectionInputs, ProjectionTables
from quartet.models.attention import PostNormLayer, VisibleKeys
from quartet.models.network import Memory, Network
from quartet.models.positions import AbsolutePositions
from quartet.text.tokenizer import is_own


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
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(PostNormLayer(config) for _ in range(config.layers))
        self._tables = ProjectionTables()
        self.initialise()
        self.positions.initialise(config)

    def embed(self, ids_BT: Tensor, positions_BTP: Tensor) -> Tensor:
        """The isolated input, K = V = X + P (normalised unless ``tta.normalise_inputs`` is off)."""
        return self._normed(self.tokens(ids_BT) + self.positions(positions_BTP))

    def first_query(self, place_BTD: Tensor) -> Tensor:
        """Q1 = P, or [MASK] + P as in the released code; normalised like the inputs, and dependent on no token."""
        if self.config.tta.first_query == "mask_token":
            place_BTD = place_BTD + self.tokens(torch.full((1,), self.mask_id, device=place_BTD.device))
        return self._normed(place_BTD)

    def _normed(self, x_BTD: Tensor) -> Tensor:
        return self.embedding_norm(x_BTD) if self.config.tta.normalise_inputs else x_BTD

    def train(self, mode: bool = True) -> TTA:
        self._tables.forget()
        return super().train(mode)

    def forward(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        place_BTD = self.positions(positions_BTP)
        source_BTD = self.dropout(self._normed(self.tokens(ids_BT) + place_BTD))
        query_BTD = self.dropout(self.first_query(place_BTD))
        visible = self._visible(ids_BT, real_BT, slice(None))
        for layer in self.layers:
            query_BTD = layer(query_BTD, source_BTD, visible)
        return query_BTD, None

    def represent_inner(self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor) -> Tensor:
        """As the base class says. No query is any other's key: those that nobody asks for are left out, exactly.

        Keys, values and first queries do not wait for the layers below, nor for the text: they are looked up.
        """
        columns = slice(1, max(1, ids_BT.shape[1] - 1))
        layers = [layer for layer in self.layers if isinstance(layer, PostNormLayer)]
        places = self.positions.indices(positions_BTP)
        place_BTD = self.positions.look_up(places)
        x_BTD = self.tokens(ids_BT) + place_BTD
        known = None
        if not self.training:
            norm = self.embedding_norm if self.config.tta.normalise_inputs else None
            attentions = [layer.attention for layer in layers]
            inputs = ProjectionInputs(
                self.tokens, self.vocabulary, self.positions, norm, self.first_query, attentions
            )
            known = self._tables(inputs, ids_BT, places, x_BTD)
        visible = self._visible(ids_BT, real_BT, columns)
        if known is None:
            source_BTD = self.dropout(self._normed(x_BTD))
            query_BTD = self.dropout(self.first_query(place_BTD))[:, columns]
            for layer in layers:
                query_BTD = layer(query_BTD, source_BTD, visible)
        else:
            if known.first is None:
                query_BTD = self.first_query(place_BTD)[:, columns]
                q_BTD = layers[0].attention.query(query_BTD)
            else:
                query_BTD, q_BTD = (rows_BTD[:, columns] for rows_BTD in known.first)
            for number, (layer, (k_BTD, v_BTD)) in enumerate(zip(layers, known.keys_values, strict=True)):
                if number > 0:
                    q_BTD = layer.attention.query(query_BTD)
                query_BTD = layer.joined(query_BTD, layer.attention.gather(q_BTD, k_BTD, v_BTD, visible))
        outer = ids_BT.shape[1] - query_BTD.shape[1]
        return F.pad(query_BTD, (0, 0, min(1, outer), max(0, outer - 1)))

    def _visible(self, ids_BT: Tensor, real_BT: Tensor, columns: slice) -> VisibleKeys:
        """What the queries at some columns may see."""
        return VisibleKeys.of((self.others(ids_BT) & real_BT[:, None, None, :])[:, :, columns])

    def others(self, ids_BT: Tensor) -> Tensor:
        """(B or 1, 1, T, T) True where key s may be seen by query t: another token, or a token of another word."""
        if self.config.tta.mask == "token":
            return ~torch.eye(ids_BT.shape[1], dtype=torch.bool, device=ids_BT.device)[None, None]
        starts_BT = ~self.continues_V[ids_BT]
        # A special token is no word that could go on: a text may be cut within a word, behind its opening [BOS].
        starts_BT[:, 1:] |= ~is_own(ids_BT[:, :-1])
        word_BT = starts_BT.cumsum(dim=1)
        return (word_BT[:, :, None] != word_BT[:, None, :])[:, None]
