"""Masked language modelling: selected tokens from what is left of the text (biLM, BERT, SegaBERT)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from quartet.data.batch import Batch
from quartet.models.network import Network
from quartet.objectives.base import IGNORED, Objective, RowRandom, States
from quartet.text.tokenizer import SPECIALS, is_own

MASK_ID = SPECIALS.index("[MASK]")


class MaskedLM(Objective):
    """Training hides 15 % of a text's own tokens; scoring hides one at a time (Shin et al. 2020, section 3).

    Attributes:
        copy_budget: tokens (masked copies x length) that go through the network at once in mask-and-predict; at least
            one copy does.
        plain: read the copies one by one, each to its end at every token, as published: what the speed is compared
            with. By default they are read in batches, and the last layer at the hidden token alone.
    """

    copy_budget = 16384
    plain = False

    def training_pair(self, batch: Batch, vocabulary: int, random: RowRandom) -> tuple[Tensor, Tensor]:
        """BERT's corruption, drawn anew for each batch and row by row.

        Of each row's n own tokens max(1, round(0.15 n)) are selected: 80 % become [MASK], 10 % a random ordinary token,
        10 % stay. Special tokens are selected only with ``loss_on_specials``.
        """
        candidates_BT = batch.real_BT if self.loss_on_specials else batch.real_BT & is_own(batch.ids_BT)
        inputs, targets = batch.ids_BT.cpu().numpy().copy(), np.full(batch.ids_BT.shape, IGNORED)
        for row, candidates_T in enumerate(candidates_BT.cpu().numpy()):
            places = np.flatnonzero(candidates_T)
            chance = random(batch.first_row + row)
            selected = chance.permutation(places)[: self._quota(len(places))]
            targets[row, selected] = inputs[row, selected]
            fate = chance.random(len(selected))
            noise = chance.integers(len(SPECIALS), vocabulary, len(selected))
            inputs[row, selected[fate < 0.8]] = MASK_ID
            inputs[row, selected[fate >= 0.9]] = noise[fate >= 0.9]
        device = batch.ids_BT.device
        return torch.from_numpy(inputs).to(device), torch.from_numpy(targets).to(device)

    def targets(self, own: NDArray[np.int64], specials: int) -> NDArray[np.int64]:
        """The selected tokens."""
        candidates = own + specials * self.loss_on_specials
        counts, of_each = np.unique(candidates, return_inverse=True)
        return np.array([self._quota(int(count)) for count in counts], dtype=np.int64)[of_each]

    def _quota(self, candidates: int) -> int:
        quota = min(candidates, max(1, round(self.mask_probability * candidates)))
        return min(quota, self.max_selected) if self.max_selected else quota

    def states(self, network: Network, batch: Batch, masked: bool = True) -> States:
        """Mask-and-predict: row b is read once for each of its own tokens, with that token hidden.

        With `masked` False the intact input is read once (the papers' BERT\\M, biLM\\M). Special tokens are never
        hidden; their states are zeros.
        """
        if not masked:
            hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
            return States(hidden_BTD, hidden_BTD)
        rows_N, places_N = (batch.real_BT & is_own(batch.ids_BT)).nonzero(as_tuple=True)
        width = batch.ids_BT.shape[1]
        hidden_BTD = torch.zeros(*batch.ids_BT.shape, network.config.dim, device=batch.ids_BT.device)
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
        return States(hidden_BTD, hidden_BTD)
