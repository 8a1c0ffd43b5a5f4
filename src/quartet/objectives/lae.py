"""Language autoencoding: every token from all others, in one pass (Shin et al. 2020, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from quartet.data.batch import Batch
from quartet.models.network import Network
from quartet.objectives.base import IGNORED, Objective, RowRandom, TokenStates
from quartet.text.tokenizer import is_own


class LanguageAutoencoding(Objective):
    """The targets are the inputs; the network (T-TA) keeps each token from its own prediction."""

    def training_pair(self, batch: Batch, vocabulary: int, random: RowRandom) -> tuple[Tensor, Tensor]:
        wanted_BT = batch.real_BT if self.loss_on_specials else batch.real_BT & is_own(batch.ids_BT)
        return batch.ids_BT, batch.ids_BT.masked_fill(~wanted_BT, IGNORED)

    def targets(self, own: NDArray[np.int64], specials: int) -> NDArray[np.int64]:
        """All own tokens, and with ``loss_on_specials`` all others too."""
        return own + specials * self.loss_on_specials

    def states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
        return TokenStates(hidden_BTD, hidden_BTD)

    def own_states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        hidden_BTD = network.represent_inner(batch.ids_BT, batch.positions_BTP, batch.real_BT)
        return TokenStates(hidden_BTD, hidden_BTD)
