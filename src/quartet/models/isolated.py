"""Keys and values of all of T-TA's layers by one product: what they are made of is the same in each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from quartet.models.attention import MultiHeadAttention
from quartet.models.linear import linear


class JointKeysValues:
    """The key and value maps of several attentions as one (2 L D, D).

    One wide product in the place of two narrow ones a layer is fewer waits of the threads for each other. The joint
    weights are a copy: with gradients a new one each time, without it is kept until a weight that it is of changes.
    """

    def __init__(self) -> None:
        self._of: tuple[tuple[int, int], ...] | None = None
        self._weight: Tensor | None = None
        self._bias: Tensor | None = None

    def __call__(
        self, attentions: Sequence[MultiHeadAttention], source_BSD: Tensor
    ) -> list[tuple[Tensor, Tensor]]:
        """Keys and values (B, S, D) of each attention."""
        maps = [one for attention in attentions for one in (attention.key, attention.value)]
        weight, bias = self._joint(maps)
        projected = linear(source_BSD, weight, bias).chunk(len(maps), dim=-1)
        return list(zip(projected[::2], projected[1::2], strict=True))

    def forget(self) -> None:
        """Let the copy go."""
        self._of = self._weight = self._bias = None

    def _joint(self, maps: Sequence[nn.Linear]) -> tuple[Tensor, Tensor]:
        parameters = [parameter for one in maps for parameter in (one.weight, one.bias)]
        if torch.is_grad_enabled() or any(parameter.is_inference() for parameter in parameters):
            return torch.cat([one.weight for one in maps]), torch.cat([one.bias for one in maps])
        now = tuple((parameter.data_ptr(), parameter._version) for parameter in parameters)
        if self._weight is None or self._bias is None or now != self._of:
            self._weight = torch.cat([one.weight for one in maps])
            self._bias = torch.cat([one.bias for one in maps])
            self._of = now
        return self._weight, self._bias
