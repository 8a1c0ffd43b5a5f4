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
    """The offsets that the released Segatron-XL computes in place of Eq. 3, which let the future in: to compare with.

    Eq. 3 wants, between the query at place i and the key at place j, the difference of their indices, p(i) - p(j). The
    release embeds the differences to the window's last place, r(k) = p(last) - p(last - k), and picks entry k = i - j
    for the pair, by Transformer-XL's shift of rows. For token indices that count through, r(k) = k is the difference
    wanted. For sentences and paragraphs it is the number of boundaries among the last i - j tokens of the window, which
    an earlier query must not know: a new sentence at the last token changes the outputs of tokens before it.

    Six tokens with the sentence indices 0 0 0 1 1 1: from the fourth to itself and the three before it Eq. 3 gives, key
    by key, 1 1 1 0, and the release 1 0 0 0.

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


def offsets_to_last(positions_BSP: Tensor, last_B: Tensor) -> Tensor:
    """(B, S, P): entry k is p(last) - p(last - k), for k from 0.

    Args:
        positions_BSP: indices of the memory's and the window's tokens.
        last_B: place of each row's last real token.
    """
    distances_S = torch.arange(positions_BSP.shape[1], device=positions_BSP.device)
    places_BS = (last_B[:, None] - distances_S).clamp(min=0)
    kinds = positions_BSP.shape[2]
    earlier_BSP = positions_BSP.gather(1, places_BS[:, :, None].expand(-1, -1, kinds))
    return earlier_BSP[:, :1] - earlier_BSP


def by_distance(scores_BHTS: Tensor) -> Tensor:
    """Scores of each query with entry k -> scores of each query with key s, where k is the distance between them.

    The T queries stand at the last T of the S places. Keys after the query get the score of distance 0.
    """
    tokens, keys = scores_BHTS.shape[2:]
    places_T = torch.arange(keys - tokens, keys, device=scores_BHTS.device)
    distance_TS = (places_T[:, None] - torch.arange(keys, device=scores_BHTS.device)).clamp(min=0)
    return scores_BHTS.gather(3, distance_TS.expand_as(scores_BHTS))
