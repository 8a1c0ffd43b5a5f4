"""Settings and inputs drawn by hypothesis, for what must hold whatever they are."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from quartet.config.model import POSITIONS, Position
from quartet.models.architectures import build
from quartet.models.network import Network
from quartet.text.tokenizer import SPECIALS
from tests.models.shapes import VOCABULARY, small

#: Every set of positions that a model over documents can have with indices that restart.
SUBSETS: list[tuple[Position, ...]] = [
    subset for size in range(1, 5) for subset in itertools.combinations(POSITIONS, size)
]
#: Those without both sequence and token, which are the same where indices run on.
RUNNING_SUBSETS = [subset for subset in SUBSETS if not {"sequence", "token"} <= set(subset)]

#: Ids that continue a word, for ``tta.mask: word``: the last half of the ordinary ones.
CONTINUES_V = torch.arange(VOCABULARY) >= (len(SPECIALS) + VOCABULARY) // 2

SEEDS = st.integers(0, 2**20)
LENGTHS = st.lists(st.integers(1, 10), min_size=1, max_size=3)

#: Sizes of any network; weights wide enough that every input counts.
SIZES = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 3),
        "heads": st.sampled_from([1, 2, 4]),
        "inner": st.sampled_from([8, 20]),
        "head": st.sampled_from(["transform", "tied"]),
        "init_std": st.just(0.3),
    }
)
TTA = st.fixed_dictionaries(
    {
        "first_query": st.sampled_from(["position", "mask_token"]),
        "normalise_inputs": st.booleans(),
    }
)


@st.composite
def recurrent(draw: st.DrawFn, offset: str = "exact") -> dict[str, Any]:
    """Settings of a Transformer-XL: a memory or none, indices of either kind, any positions that go with them."""
    index = draw(st.sampled_from(["running", "reset"]))
    positions = draw(st.sampled_from(RUNNING_SUBSETS if index == "running" else SUBSETS))
    return {
        **draw(SIZES),
        "objective": "clm",
        "architecture": "transformer-xl",
        "reads": "streams",
        "head": "tied",
        "positions": positions,
        "recurrence": {"index": index, "offset": offset, "memory": draw(st.sampled_from([0, 2, 5, 20]))},
    }


def network_of(seed: int, **settings: Any) -> Network:
    """A network with random weights, which reads without dropout."""
    torch.manual_seed(seed)
    return build(small(**settings), VOCABULARY, CONTINUES_V).eval()


def restarted(positions_BTP: Tensor) -> Tensor:
    """Running indices of a stream -> those that restart with each sentence and paragraph."""
    sequence_BT, _, sentence_BT, paragraph_BT = positions_BTP.unbind(-1)
    token_BT = sequence_BT - _first(sentence_BT, sequence_BT)
    return torch.stack(
        [sequence_BT, token_BT, sentence_BT - _first(paragraph_BT, sentence_BT), paragraph_BT], -1
    )


def _first(segments_BT: Tensor, values_BT: Tensor) -> Tensor:
    """The value of the first place of each place's segment."""
    same_BTT = segments_BT[:, :, None] == segments_BT[:, None, :]
    firsts_BT = same_BTT.long().argmax(-1)
    return values_BT.gather(1, firsts_BT)


def other_ordinary(ids: Tensor, step: int = 1) -> Tensor:
    """Another ordinary token for each."""
    first = len(SPECIALS)
    return (ids - first + step) % (VOCABULARY - first) + first


def other_of_its_kind(ids: Tensor) -> Tensor:
    """Another ordinary token that continues a word where the first does, and begins one where it does."""
    first, middle = len(SPECIALS), int(CONTINUES_V.long().argmax())
    begins = (ids - first + 1) % (middle - first) + first
    continues = (ids - middle + 1) % (VOCABULARY - middle) + middle
    return torch.where(CONTINUES_V[ids], continues, begins)
