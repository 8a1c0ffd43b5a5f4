"""What the three architectures have in common: one call, one embedding table, one head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from quartet.config.model import ModelConfig
from quartet.models.adaptive import AdaptiveEmbedding, AdaptiveHead
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
    """A model without its objective: token ids and positions in, one representation a token out.

    Attributes:
        vocabulary: number of token ids V.
    """

    tokens: nn.Embedding | AdaptiveEmbedding
    head: VocabularyHead | AdaptiveHead

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        if config.adaptive.cutoffs:
            self.tokens = AdaptiveEmbedding(config, vocabulary)
            self.head = AdaptiveHead(config, vocabulary)
        else:
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

    def represent_one(
        self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor, place_B: Tensor
    ) -> Tensor:
        """The last layer's output (B, D) at one place of each row, for which a network may save what others need."""
        hidden_BTD, _ = self(ids_BT, positions_BTP, real_BT)
        rows_B = torch.arange(len(place_B), device=place_B.device)
        represented: Tensor = hidden_BTD[rows_B, place_B]
        return represented

    def represent_inner(self, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor) -> Tensor:
        """The last layer's output (B, T, D), but for the first and the last column, where it may be anything."""
        hidden_BTD: Tensor = self(ids_BT, positions_BTP, real_BT)[0]
        return hidden_BTD

    @abstractmethod
    def embed(self, ids_BT: Tensor, positions_BTP: Tensor) -> Tensor:
        """The embedding layer's output (B, T, D), after positions and normalisation where the model has them."""

    def logprobs(self, hidden_ND: Tensor) -> Tensor:
        """(N, D) -> (N, V), natural log-probabilities of every token."""
        logprobs: Tensor = self.head.logprobs(hidden_ND, self.tokens)  # type: ignore[arg-type]  # they come in pairs
        return logprobs

    def target_logprobs(self, hidden_ND: Tensor, targets_N: Tensor) -> Tensor:
        """(N, D) and (N,) ids -> (N,), natural log-probabilities of the targets."""
        logprobs: Tensor = self.head.target_logprobs(hidden_ND, targets_N, self.tokens)  # type: ignore[arg-type]
        return logprobs

    def loss(self, hidden_ND: Tensor, targets_N: Tensor, known: Sequence[Tensor] | None = None) -> Tensor:
        """(N, D) and (N,) ids -> a scalar, minus the sum of the targets' log-probabilities, for training.

        Args:
            known: of an adaptive softmax, where the targets of each cluster are; None: they are looked for.
        """
        loss: Tensor = self.head.loss(hidden_ND, targets_N, self.tokens, known)  # type: ignore[arg-type]
        return loss

    @property
    def edges(self) -> tuple[int, ...]:
        """The first id of each cluster of an adaptive softmax, and the one after the last; without one, none."""
        return tuple(self.tokens.edges) if isinstance(self.tokens, AdaptiveEmbedding) else ()

    def compile_layers(self) -> None:
        """Let ``torch.compile`` make kernels of each layer and of the loss, in place: parameters keep their names.

        Layers and not the whole: all of them share what is compiled once, for inputs of any size.
        """
        for layer in self.get_submodule("layers").children():
            layer.compile(dynamic=True)
        self.head.compiled = True

    def table(self) -> Tensor:
        """(V, D): the bare token embeddings."""
        every_V = torch.arange(self.vocabulary, device=next(self.parameters()).device)
        table: Tensor = self.tokens(every_V)
        return table

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
