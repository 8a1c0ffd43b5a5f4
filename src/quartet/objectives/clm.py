"""Causal language modelling: each token from those before it (uniLM, Transformer-XL)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from quartet.data.batch import Batch, closes
from quartet.models.network import Network
from quartet.objectives.base import IGNORED, Objective, RowRandom, TokenStates


class CausalLM(Objective):
    """log p(x) = sum_i log p(x_i | x_<i), the closing token included; the opening one is never predicted."""

    predicts_end = True
    pseudo = False

    def training_pair(self, batch: Batch, vocabulary: int, random: RowRandom) -> tuple[Tensor, Tensor]:
        """The next token of each; the output after a text's last token has no target."""
        next_BT = F.pad(batch.ids_BT[:, 1:], (0, 1), value=IGNORED)
        real_next_BT = F.pad(batch.real_BT[:, 1:], (0, 1), value=False)
        targets_BT = next_BT.masked_fill(~real_next_BT, IGNORED)
        if batch.following_B is not None:
            targets_BT = torch.where(closes(batch.real_BT), batch.following_B[:, None], targets_BT)
        return batch.ids_BT, targets_BT

    def targets(self, own: NDArray[np.int64], specials: int) -> NDArray[np.int64]:
        """All tokens but the opening one; of running text as many as are read."""
        return own + max(0, specials - 1)

    def states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        """One pass; the output at t - 1 predicts token t. The first token of a row has no prediction (zeros)."""
        hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
        return TokenStates(F.pad(hidden_BTD[:, :-1], (0, 0, 1, 0)), hidden_BTD)
