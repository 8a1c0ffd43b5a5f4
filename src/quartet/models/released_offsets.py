"""The offsets that the released Segatron-XL computes in place of Eq. 3. They let the future in: for comparison only.

Eq. 3 wants, between the query at place i and the key at place j, the difference of their indices, p(i) - p(j). The
release embeds the differences to the window's last place, r(k) = p(last) - p(last - k), and picks entry k = i - j for
the pair, by Transformer-XL's shift of rows. For token indices that count through, r(k) = k is the difference wanted.
For sentences and paragraphs it is the number of boundaries among the last i - j tokens of the window, which an
earlier query must not know: a new sentence at the last token changes the outputs of tokens before it.

Six tokens with the sentence indices 0 0 0 1 1 1: from the fourth to itself and the three before it Eq. 3 gives, key by
key, 1 1 1 0, and the release 1 0 0 0.
"""

from __future__ import annotations

import torch
from torch import Tensor


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
