"""Masked language modelling: selected tokens from what is left of the text (biLM, BERT, SegaBERT)."""

from __future__ import annotations

import torch
from torch import Tensor

from quartet.data.batch import Batch, is_own
from quartet.models.network import Network
from quartet.objectives.base import IGNORED, Objective, States
from quartet.text.tokenizer import SPECIALS

MASK_ID = SPECIALS.index("[MASK]")


class MaskedLM(Objective):
    """Training hides 15 % of a text's own tokens; scoring hides one at a time (Shin et al. 2020, section 3).

    Attributes:
        copy_budget: tokens (masked copies x length) that go through the network at once in mask-and-predict; at least
            one copy does.
    """

    copy_budget = 16384

    def training_pair(self, batch: Batch, vocabulary: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """BERT's corruption, drawn anew for each batch.

        Of each row's n own tokens max(1, round(0.15 n)) are selected: 80 % become [MASK], 10 % a random ordinary token,
        10 % stay. Special tokens are never selected.
        """
        shape = batch.ids_BT.shape
        own_BT = (batch.real_BT & is_own(batch.ids_BT)).cpu()
        quota_B1 = (own_BT.sum(1, keepdim=True) * self.mask_probability).round().long().clamp(min=1)
        order_BT = torch.rand(shape, generator=random).masked_fill(~own_BT, 2.0)
        rank_BT = order_BT.argsort(dim=1).argsort(dim=1)
        selected_BT = own_BT & (rank_BT < quota_B1)
        fate_BT = torch.rand(shape, generator=random)
        noise_BT = torch.randint(len(SPECIALS), vocabulary, shape, generator=random)
        device = batch.ids_BT.device
        selected_BT, fate_BT, noise_BT = selected_BT.to(device), fate_BT.to(device), noise_BT.to(device)
        inputs_BT = torch.where(selected_BT & (fate_BT < 0.8), MASK_ID, batch.ids_BT)
        inputs_BT = torch.where(selected_BT & (fate_BT >= 0.9), noise_BT, inputs_BT)
        return inputs_BT, batch.ids_BT.masked_fill(~selected_BT, IGNORED)

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
        hidden_BTD = network.tokens.weight.new_zeros(*batch.ids_BT.shape, network.config.dim)
        step = max(1, self.copy_budget // max(1, width))
        for at in range(0, len(rows_N), step):
            rows, places = rows_N[at : at + step], places_N[at : at + step]
            copies = torch.arange(len(rows), device=rows.device)
            inputs = batch.ids_BT[rows].clone()
            inputs[copies, places] = MASK_ID
            outputs, _ = network(inputs, batch.positions_BTP[rows], batch.real_BT[rows])
            hidden_BTD[rows, places] = outputs[copies, places]
        return States(hidden_BTD, hidden_BTD)
