"""From a token's representation to log-probabilities over the vocabulary, with the embeddings as the output matrix."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import ModelConfig
from quartet.kernels.cross_entropy import summed_cross_entropy, target_logprobs
from quartet.kernels.linear import Linear, linear


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
                Linear(config.dim, config.dim),
                nn.GELU(),
                nn.LayerNorm(config.dim, eps=config.norm_epsilon),
            )
        self.bias_V = nn.Parameter(torch.zeros(vocabulary))
        #: the loss's step from logits to gradient is compiled, as the layers are: see `Network.compile_layers`
        self.compiled = False

    def logits(self, hidden_ND: Tensor, tokens: nn.Embedding) -> Tensor:
        """(..., D) representations -> (..., V) unnormalised log-probabilities."""
        return linear(self.transform(hidden_ND), tokens.weight, self.bias_V)

    def logprobs(self, hidden_ND: Tensor, tokens: nn.Embedding) -> Tensor:
        """(..., D) -> (..., V) log-probabilities."""
        return F.log_softmax(self.logits(hidden_ND, tokens).float(), dim=-1)

    def loss(
        self,
        hidden_ND: Tensor,
        targets_N: Tensor,
        tokens: nn.Embedding,
        known: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """(N, D) and (N,) ids -> minus the sum of the targets' log-probabilities, for training.

        Args:
            known: of the other kind of head.
        """
        return summed_cross_entropy(
            self.transform(hidden_ND), tokens.weight, self.bias_V, targets_N, compiled=self.compiled
        )

    def target_logprobs(self, hidden_ND: Tensor, targets_N: Tensor, tokens: nn.Embedding) -> Tensor:
        """(N, D) and (N,) ids -> (N,) log-probabilities of the targets."""
        if torch.is_grad_enabled():
            return -F.cross_entropy(self.logits(hidden_ND, tokens).float(), targets_N, reduction="none")
        return target_logprobs(self.transform(hidden_ND), targets_N, tokens.weight, self.bias_V)
