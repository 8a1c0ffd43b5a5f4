"""From a token's representation to log-probabilities over the vocabulary, with the embeddings as the output matrix."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import ModelConfig
from quartet.models.fused_loss import AT_ONCE, summed_cross_entropy
from quartet.models.linear import Linear, linear

#: Logits of a tile, 256 rows by 2,048 of the vocabulary: 2 MiB.
TILE_ROWS, TILE_COLUMNS = 256, 2048


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

    def loss(self, hidden_ND: Tensor, targets_N: Tensor, tokens: nn.Embedding) -> Tensor:
        """(N, D) and (N,) ids -> minus the sum of the targets' log-probabilities, for training."""
        return summed_cross_entropy(
            self.transform(hidden_ND), tokens.weight, self.bias_V, targets_N, compiled=self.compiled
        )

    def target_logprobs(self, hidden_ND: Tensor, targets_N: Tensor, tokens: nn.Embedding) -> Tensor:
        """(N, D) and (N,) ids -> (N,) log-probabilities of the targets."""
        if torch.is_grad_enabled():
            return -F.cross_entropy(self.logits(hidden_ND, tokens).float(), targets_N, reduction="none")
        if hidden_ND.is_cuda:  # in parts that fill it, whose logits have room
            rows = max(1, AT_ONCE["cuda"] // (4 * len(self.bias_V)))
            pairs = zip(hidden_ND.split(rows), targets_N.split(rows), strict=True)
            logits = ((self.logits(part, tokens).float(), targets) for part, targets in pairs)
            return -torch.cat([F.cross_entropy(*each, reduction="none") for each in logits])
        hidden_ND = self.transform(hidden_ND)
        parts = [
            tiled_logprobs(
                hidden_ND[at : at + TILE_ROWS], targets_N[at : at + TILE_ROWS], tokens.weight, self.bias_V
            )
            for at in range(0, len(targets_N), TILE_ROWS)
        ]
        return torch.cat(parts) if parts else hidden_ND.new_zeros(0)


def tiled_logprobs(hidden_ND: Tensor, targets_N: Tensor, weight_VD: Tensor, bias_V: Tensor) -> Tensor:
    """Log-probabilities (N,) of targets, with the logits made and summed up tile by tile.

    On a CPU a tile stays in the cache, where (N, V) logits would go to memory and come back several times. Two sums of
    products give the target's logit, one here and one in its tile, so a target that is nearly certain may come out a
    rounding error above 0: it is 0 then.
    """
    sums = [
        _logsumexp(linear(hidden_ND, weight_VD[at : at + TILE_COLUMNS], bias_V[at : at + TILE_COLUMNS]))
        for at in range(0, len(bias_V), TILE_COLUMNS)
    ]
    targets_logit_N = (hidden_ND * weight_VD[targets_N]).sum(-1) + bias_V[targets_N]
    return torch.clamp(targets_logit_N - torch.logsumexp(torch.stack(sums), 0), max=0.0)


def _logsumexp(logits_NC: Tensor) -> Tensor:
    """As ``torch.logsumexp``, over the columns. Log-softmax is one pass over the tile, where that makes five."""
    return logits_NC[:, 0] - torch.log_softmax(logits_NC, dim=-1)[:, 0]
