"""The memory of Transformer-XL and Segatron-XL, the parts of their positions, and indices over a maximum."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from quartet.errors import InputError
from quartet.models.architectures import build
from quartet.models.network import Memory, Network
from quartet.models.positions import fit_maximum, released_maximum, split_dimension
from tests.models.drawn import LENGTHS, SEEDS, network_of, recurrent, restarted
from tests.models.shapes import KINDS, VOCABULARY, random_inputs, small

#: In float64: what is left in float32 is rounding, which the tests of scores bound.
EXACT = 1e-9


def read_in_windows(
    network: Network, inputs: tuple[Tensor, Tensor, Tensor], edges: Sequence[int]
) -> tuple[Tensor, Memory | None]:
    """All outputs of a text cut at the edges, and the memory behind it."""
    memory, parts = None, []
    with torch.no_grad():
        for start, stop in itertools.pairwise(edges):
            hidden_BTD, memory = network(*(tensor[:, start:stop] for tensor in inputs), memory)
            parts.append(hidden_BTD)
    return torch.cat(parts, dim=1), memory


def drawn_inputs(lengths: list[int], index: str) -> tuple[Tensor, Tensor, Tensor]:
    ids_BT, positions_BTP, real_BT = random_inputs(len(lengths), max(lengths), lengths)
    return ids_BT, restarted(positions_BTP) if index == "reset" else positions_BTP, real_BT


@settings(max_examples=50)
@given(drawn=recurrent(), seed=SEEDS, size=st.integers(1, 40), cuts=st.sets(st.integers(1, 39)))
def test_windows_with_memory_equal_one_pass(
    drawn: dict[str, Any], seed: int, size: int, cuts: set[int]
) -> None:
    """A memory as long as the text leaves nothing out, wherever the text is cut; positions come with it."""
    drawn["recurrence"]["memory"] = size
    network = network_of(seed, **drawn).double()
    inputs = drawn_inputs([size, size], drawn["recurrence"]["index"])
    whole_BTD, memory = read_in_windows(network, inputs, [0, size])
    edges = [0, *sorted(cut for cut in cuts if cut < size), size]
    parts_BTD, same = read_in_windows(network, inputs, edges)
    assert (parts_BTD - whole_BTD).abs().max() < EXACT
    assert memory is not None and same is not None
    assert torch.equal(memory.positions_BMP, same.positions_BMP) and memory.positions_BMP.shape[1] == size


@settings(max_examples=50)
@given(drawn=recurrent(), seed=SEEDS, lengths=LENGTHS, window=st.integers(1, 5))
def test_a_stream_does_not_depend_on_those_beside_it(
    drawn: dict[str, Any], seed: int, lengths: list[int], window: int
) -> None:
    """Read in windows, with padding behind the shorter streams, against each stream alone."""
    network = network_of(seed, **drawn).double()
    inputs = drawn_inputs(lengths, drawn["recurrence"]["index"])
    together_BTD, _ = read_in_windows(network, inputs, [*range(0, max(lengths), window), max(lengths)])
    for row, length in enumerate(lengths):
        own = tuple(tensor[row : row + 1, :length] for tensor in inputs)
        assert len(own) == 3
        alone_BTD, _ = read_in_windows(network, own, [*range(0, length, window), length])
        assert (together_BTD[row, :length] - alone_BTD[0]).abs().max() < EXACT


@pytest.mark.parametrize("kind", ["transformer-xl", "segatron-xl"])
def test_a_long_stream_is_read_as_far_as_layers_reach(kind: str) -> None:
    """The last window behind 39 others, against a stream that starts where the reach of the layers does, or later.

    A query sees its window, of which its own place may be the last, and the memory: window - 1 + memory tokens a layer.
    """
    window, memory, layers = 5, 6, 2
    network = network_of(6, **{**KINDS[kind], "init_std": 0.3, "recurrence": {"memory": memory}})
    inputs = drawn_inputs([200], "running")
    long_BTD, _ = read_in_windows(network, inputs, range(0, 201, window))
    reach = layers * (memory + window - 1)
    needed = -(-reach // window) * window
    for kept, same in ((needed + window, True), (window, False)):
        short_BTD, _ = read_in_windows(network, inputs, range(200 - kept, 201, window))
        assert torch.allclose(short_BTD[:, -window:], long_BTD[:, -window:], atol=1e-5) == same


def test_memory_is_bounded_and_may_be_absent() -> None:
    ids_BT, positions_BTP, real_BT = random_inputs(1, 8)
    for length in (0, 5):
        network = build(
            small(**{**KINDS["segatron-xl"], "recurrence": {"memory": length}}), VOCABULARY
        ).eval()
        memory = None
        for _ in range(3):
            _, memory = network(ids_BT, positions_BTP, real_BT, memory)
        assert (
            (memory is None)
            if length == 0
            else (memory is not None and memory.hidden_LBMD.shape[2] == length)
        )


def test_parts_of_the_position_dimension() -> None:
    assert split_dimension(410, 3) == [136, 136, 138]
    assert split_dimension(1024, 3) == [342, 342, 340]
    assert split_dimension(410, 2) == [206, 204]
    assert split_dimension(128, 1) == [128]
    for dim, parts in ((12, 4), (4, 3), (2, 2)):
        with pytest.raises(InputError, match=f"positions: {parts} kinds leave no width of dim {dim}"):
            split_dimension(dim, parts)


def test_indices_over_the_maximum_are_brought_down_by_subtracting() -> None:
    indices = torch.tensor([[2, 3, 4, 5], [0, 1, 2, 3], [0, 0, 4, 4]])
    assert fit_maximum(indices, 4).tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 3, 3]]
    assert released_maximum(indices, 4, subtract=True).tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 3, 3]]
    assert released_maximum(indices, 4, subtract=False).tolist() == [
        [2, 3, 3, 3],
        [0, 1, 2, 3],
        [0, 0, 3, 3],
    ]
    kept = torch.tensor([[0, 1, 4], [1, 2, 5], [1, 2, 3]])
    assert released_maximum(kept, 4, subtract=True).tolist() == [[0, 1, 3], [0, 1, 3], [1, 2, 3]]
    assert fit_maximum(kept, 4).tolist() == [[0, 0, 3], [0, 0, 3], [1, 2, 3]]
