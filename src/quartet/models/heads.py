"""From a token's representation to logits over the vocabulary, with the embedding table as the output matrix."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.models.config import ModelConfig


class VocabularyHead(nn.Module):
    """Softmax(H E^T) with weights tied to the embedding (Shin et al. 2020, section 5.1).

    With ``head: transform`` a dense layer, GELU and normalisation come first and a bias is added, as in BERT and in the
    released T-TA; with ``head: tied`` only the bias is.
    """

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.transform: nn.Module = nn.Identity()
        if config.head == "transform":
            self.transform = nn.Sequential(
                nn.Linear(config.dim, config.dim), nn.GELU(), nn.LayerNorm(config.dim)
            )
        self.bias_V = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, hidden_ND: Tensor, embedding_VD: Tensor) -> Tensor:
        """(..., D) representations -> (..., V) logits."""
        return F.linear(self.transform(hidden_ND), embedding_VD, self.bias_V)
