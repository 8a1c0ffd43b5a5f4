"""The position term of Eq. 1 (Bai et al. 2021) for every pair, in two exact ways and in the released one.

None of them makes a tensor of T x S x D. Which exact way is quicker depends on the device: see :func:`exact_scores`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from quartet.kernels import is_plain
from quartet.models.positions import RelativePhases
from quartet.models.released_offsets import by_distance, offsets_to_last


class RelativeScores(Protocol):
    """What is the same for all layers and heads: where the queries and the keys stand."""

    def scores(self, query_BTHK: Tensor, weight_HKD: Tensor) -> Tensor:
        """(B, H, T, S): (q + v) . W_R R of each pair.

        Args:
            query_BTHK: q + v.
            weight_HKD: W_R, each head's rows.
        """


def exact_scores(phases: RelativePhases, positions_BSP: Tensor, tokens: int) -> RelativeScores:
    """The quicker exact way: tables on a CPU, rotations elsewhere and within :func:`quartet.kernels.plain`.

    On a CPU tables took 0.4 to 0.8 of the rotations' time, forward and backward (widths 200 and 410, memory and window
    of 64 and 150). On a GPU neither was measured; a rotation is one product, and needs no look at the data first.
    """
    if positions_BSP.device.type == "cpu" and not is_plain():
        return OffsetTables.of(phases, positions_BSP, tokens)
    return Rotations.of(phases, positions_BSP, tokens)


@dataclass(frozen=True)
class Rotations:
    """sin(a - b) and cos(a - b) by products of sines and cosines: see :class:`RelativePhases`.

    Attributes:
        phases_BSD: the key side of each place.
        angles_BTF: the angles of the queries' places.
    """

    phases_BSD: Tensor
    angles_BTF: Tensor

    @classmethod
    def of(cls, phases: RelativePhases, positions_BSP: Tensor, tokens: int) -> Rotations:
        """Of the queries at the last `tokens` of S places."""
        angles_BSF = phases.angles(positions_BSP - positions_BSP[:, :1])
        return cls(RelativePhases.keys(angles_BSF), angles_BSF[:, -tokens:])

    def scores(self, query_BTHK: Tensor, weight_HKD: Tensor) -> Tensor:
        # g = W_R^T (q + v), one vector of width D a head.
        g_BTHD = torch.einsum("bthk,hkd->bthd", query_BTHK, weight_HKD)
        turned_BTHD = RelativePhases.queries(g_BTHD, self.angles_BTF)
        scores_BTHS = (turned_BTHD.flatten(1, 2) @ self.phases_BSD.transpose(1, 2)).view(
            *g_BTHD.shape[:3], -1
        )
        return scores_BTHS.transpose(1, 2)


@dataclass(frozen=True)
class OffsetTable:
    """One kind of position: the phases of every offset that occurs, and which of them each pair has.

    Attributes:
        columns_C: of D that belong to this kind.
        phases_NC: of the offsets, from the smallest.
        offset_BTS: row of each pair's offset; pairs that causality forbids have any.
    """

    columns_C: Tensor
    phases_NC: Tensor
    offset_BTS: Tensor


@dataclass(frozen=True)
class OffsetTables:
    """(q + v) . W_R R for each offset that occurs, looked up by every pair.

    A window has S distances, and few differences of sentences or paragraphs.
    """

    kinds: list[OffsetTable]

    @classmethod
    def of(cls, phases: RelativePhases, positions_BSP: Tensor, tokens: int) -> OffsetTables:
        """Of the queries at the last `tokens` of S places."""
        places = positions_BSP.shape[1]
        seen_TS = torch.ones(tokens, places, dtype=torch.bool, device=positions_BSP.device).tril(
            places - tokens
        )
        kinds = []
        for column, frequencies_F, columns_C in phases.kinds():
            indices_BS = positions_BSP[..., column]
            offset_BTS = (indices_BS[:, -tokens:, None] - indices_BS[:, None, :]) * seen_TS
            least, most = offset_BTS.aminmax()
            offsets_N = torch.arange(int(least), int(most) + 1, device=positions_BSP.device)
            phases_NC = RelativePhases.keys(offsets_N[:, None] * frequencies_F)
            kinds.append(OffsetTable(columns_C, phases_NC, offset_BTS - least))
        return cls(kinds)

    def scores(self, query_BTHK: Tensor, weight_HKD: Tensor) -> Tensor:
        query_BHTK = query_BTHK.transpose(1, 2)
        total_BHTS: Tensor | None = None
        for kind in self.kinds:
            table_HKN = weight_HKD[..., kind.columns_C] @ kind.phases_NC.T
            index_BHTS = kind.offset_BTS[:, None].expand(-1, len(weight_HKD), -1, -1)
            scores_BHTS = (query_BHTK @ table_HKN).gather(3, index_BHTS)
            total_BHTS = scores_BHTS if total_BHTS is None else total_BHTS + scores_BHTS
        assert total_BHTS is not None, "a model sees some kind of position"
        return total_BHTS


@dataclass(frozen=True)
class ReleasedScores:
    """The offsets of the released code, which leak: see :mod:`quartet.models.released_offsets`.

    Attributes:
        phases_BSD: of each distance.
    """

    phases_BSD: Tensor

    @classmethod
    def of(cls, phases: RelativePhases, positions_BSP: Tensor, real_BT: Tensor) -> ReleasedScores:
        """Of the queries at the last T of S places."""
        last_B = positions_BSP.shape[1] - real_BT.shape[1] + real_BT.sum(dim=1) - 1
        return cls(RelativePhases.keys(phases.angles(offsets_to_last(positions_BSP, last_B))))

    def scores(self, query_BTHK: Tensor, weight_HKD: Tensor) -> Tensor:
        g_BTHD = torch.einsum("bthk,hkd->bthd", query_BTHK, weight_HKD)
        return by_distance(torch.einsum("bthd,bkd->bhtk", g_BTHD, self.phases_BSD))
