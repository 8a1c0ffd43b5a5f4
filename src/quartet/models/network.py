"""What the three architectures have in common: one call, one embedding table, one head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn

from quartet.models.config import ModelConfig
from quartet.models.heads import VocabularyHead


@dataclass(frozen=True)
class Memory:
    """What a recurrent model keeps of earlier windows: the inputs of each layer, and where those tokens stood.

    Attributes:
        hidden_LBMD: layers x B x M x D.
        positions_BMP: their position indices.
    """

    hidden_LBMD: Tensor
    positions_BMP: Tensor


class Network(nn.Module, ABC):
    """A model without its objective: token ids and positions in, one representation a token out."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(vocabulary, config.dim)
        self.head = VocabularyHead(config, vocabulary)

    @abstractmethod
    def forward(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        """Represent each token in its context.

        Args:
            ids_BT: token ids, padded on the right.
            positions_BTP: sequence, token, sentence and paragraph indices.
            real_BT: False at padding.
            memory: what the last call on the same streams returned (recurrent architectures only).

        Returns:
            The last layer's output (B, T, D) and the memory for the next call (None: there is none).
        """

    @abstractmethod
    def embed(self, ids_BT: Tensor, positions_BTP: Tensor) -> Tensor:
        """The embedding layer's output (B, T, D), after positions and normalisation where the model has them."""

    def logits(self, hidden_ND: Tensor) -> Tensor:
        """(..., D) -> (..., V), unnormalised log-probabilities."""
        logits: Tensor = self.head(hidden_ND, self.tokens.weight)
        return logits

    def initialise(self) -> None:
        """Normal(0, init_std) for every matrix and table, zero for every bias, as in BERT."""
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=self.config.init_std)
            elif name.endswith("bias") or name.endswith("bias_V"):
                nn.init.zeros_(parameter)

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())
