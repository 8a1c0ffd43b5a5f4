"""Masked language modelling: selected tokens from what is left of the text (biLM, BERT, SegaBERT)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from quartet.data.batch import Batch
from quartet.models.network import Network
from quartet.objectives.base import IGNORED, Objective, RowRandom, TokenStates
from quartet.text.tokenizer import SPECIALS, is_own

MASK_ID = SPECIALS.index("[MASK]")

#: Of the 2^32 values of a random word those below the first mean [MASK], those from the second on a random token.
MASKED, KEPT = round(0.8 * 2**32), round(0.9 * 2**32)
#: Above every number that a candidate can draw.
NEVER = np.uint64(2**63)


class MaskedLM(Objective):
    """Training hides 15 % of a text's own tokens; scoring hides one at a time (Shin et al. 2020, section 3).

    Attributes:
        copy_budget: tokens (masked copies x length) that go through the network at once in mask-and-predict; at least
            one copy does.
        plain: read the copies one by one, each to its end at every token, as published: what the speed is compared
            with. By default they are read in batches, and the last layer at the hidden token alone.
    """

    masks = True
    copy_budget = 16384
    plain = False

    def training_pair(self, batch: Batch, vocabulary: int, random: RowRandom) -> tuple[Tensor, Tensor]:
        """BERT's corruption, drawn anew for each batch and row by row.

        Of each row's n own tokens max(1, round(0.15 n)) are selected: 80 % become [MASK], 10 % a random ordinary token,
        10 % stay. Special tokens are selected only with ``loss_on_specials``. Every target weighs the same, but not
        every token: that of a row of one is always a target, that of a row of nine with probability 1/9.
        """
        candidates_BT = batch.real_BT if self.loss_on_specials else batch.real_BT & is_own(batch.ids_BT)
        may_BT, ids_BT = candidates_BT.numpy(), batch.ids_BT.numpy()
        order_BT, spare_BT, fate_BT, noise_BT = random(batch.first_row, *ids_BT.shape)
        # Those with the least numbers are selected; two words leave no ties, and what is no candidate comes last.
        numbers_BT = np.where(may_BT, order_BT << np.uint64(31) | spare_BT >> np.uint64(1), NEVER)
        quota_B1 = self._quota(may_BT.sum(axis=1))[:, None]
        largest_B1 = np.take_along_axis(np.sort(numbers_BT, axis=1), (quota_B1 - 1).clip(min=0), axis=1)
        selected_BT = may_BT & (numbers_BT <= largest_B1)
        targets_BT = np.where(selected_BT, ids_BT, IGNORED)
        # A word of 32 bits times n, over 2^32: an even draw from n.
        random_BT = len(SPECIALS) + (noise_BT * np.uint64(vocabulary - len(SPECIALS)) >> np.uint64(32))
        inputs_BT = np.where(selected_BT & (fate_BT < MASKED), MASK_ID, ids_BT)
        inputs_BT = np.where(selected_BT & (fate_BT >= KEPT), random_BT.astype(np.int64), inputs_BT)
        return torch.from_numpy(inputs_BT), torch.from_numpy(targets_BT)

    def targets(self, own: NDArray[np.int64], specials: int) -> NDArray[np.int64]:
        """The selected tokens."""
        return self._quota(own + specials * self.loss_on_specials)

    def _quota(self, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of tokens to mask, given the number of candidates."""
        share = np.rint(self.mask_probability * candidates).astype(np.int64)
        quota: NDArray[np.int64] = np.minimum(candidates, np.maximum(1, share))
        return quota.clip(max=self.max_selected) if self.max_selected else quota

    def states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        """Mask-and-predict: row b is read once for each of its own tokens, with that token hidden.

        With `masked` False the intact input is read once (the papers' BERT\\M, biLM\\M). Special tokens are never
        hidden; their states are zeros.
        """
        if not masked:
            hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
            return TokenStates(hidden_BTD, hidden_BTD)
        rows_N, places_N = (batch.real_BT & is_own(batch.ids_BT)).nonzero(as_tuple=True)
        width = batch.ids_BT.shape[1]
        hidden_BTD = torch.zeros(
            *batch.ids_BT.shape,
            network.config.dim,
            dtype=next(network.parameters()).dtype,
            device=batch.ids_BT.device,
        )
        step = 1 if self.plain else max(1, self.copy_budget // max(1, width))
        for at in range(0, len(rows_N), step):
            rows, places = rows_N[at : at + step], places_N[at : at + step]
            copies = torch.arange(len(rows), device=rows.device)
            inputs = batch.ids_BT[rows].clone()
            inputs[copies, places] = MASK_ID
            copy = (inputs, batch.positions_BTP[rows], batch.real_BT[rows])
            if self.plain:
                hidden_BTD[rows, places] = network(*copy)[0][copies, places]
            else:
                hidden_BTD[rows, places] = network.represent_one(*copy, places)
        return TokenStates(hidden_BTD, hidden_BTD)
