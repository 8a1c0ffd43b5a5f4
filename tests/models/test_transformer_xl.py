"""Transformer-XL and Segatron-XL against Eq. 1-3 written out, and against the future."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from quartet.models.architectures import build
from quartet.models.config import POSITIONS
from quartet.models.positions import RelativePhases, fit_maximum, split_dimension
from quartet.models.transformer_xl import TransformerXL
from tests.models.shapes import KINDS, VOCABULARY, random_inputs, small

SUBSETS = [["sequence"], ["token", "sentence"], ["token", "paragraph"], ["token", "sentence", "paragraph"]]


def relative_embedding(offsets: list[int], dim: int) -> Tensor:
    """R of Eq. 3 for one pair: the parts' sines, then the parts' cosines, as the model lays them out."""
    sines: list[float] = []
    cosines: list[float] = []
    for offset, width in zip(offsets, split_dimension(dim, len(offsets)), strict=True):
        for k in range(width // 2):
            angle = offset / 10000 ** (2 * k / width)
            sines.append(math.sin(angle))
            cosines.append(math.cos(angle))
    return torch.tensor(sines + cosines, dtype=torch.float64)


def naive_attention(model: TransformerXL, x_TD: Tensor, source_SD: Tensor, positions_SP: Tensor) -> Tensor:
    """Eq. 1 by loops over heads, queries and keys, for the first layer and one row."""
    attention = model.layers[0].attention
    width, heads = attention.width, attention.heads
    columns = [POSITIONS.index(kind) for kind in POSITIONS if kind in model.config.positions]
    tokens, keys = len(x_TD), len(source_SD)
    w_q, w_k, w_v, w_r = (
        layer.weight.view(heads, width, -1)
        for layer in (attention.query, attention.key, attention.value, attention.position)
    )
    rows = []
    for t in range(tokens):
        place = keys - tokens + t
        parts = []
        for h in range(heads):
            query = w_q[h] @ x_TD[t]
            scores = []
            for s in range(place + 1):
                offsets = [int(positions_SP[place, c] - positions_SP[s, c]) for c in columns]
                relative = w_r[h] @ relative_embedding(offsets, model.config.dim)
                content = (query + model.u_HK[h]) @ (w_k[h] @ source_SD[s])
                scores.append((content + (query + model.v_HK[h]) @ relative) / math.sqrt(width))
            weights = torch.softmax(torch.stack(scores), 0)
            parts.append(sum(weights[s] * (w_v[h] @ source_SD[s]) for s in range(place + 1)))
        rows.append(attention.output.weight @ torch.cat(parts))
    return torch.stack(rows)


@pytest.mark.parametrize("positions", SUBSETS)
@pytest.mark.parametrize("memory", [0, 4])
def test_attention_is_equation_one(positions: list[str], memory: int) -> None:
    torch.manual_seed(4)
    config = small(**{**KINDS["transformer-xl"], "positions": positions, "dim": 20})
    model = build(config, VOCABULARY).double()
    assert isinstance(model, TransformerXL)
    model.phases = RelativePhases(config.dim, config.positions).double()
    source_BSD = torch.randn(1, 5 + memory, 20, dtype=torch.float64)
    _, positions_BSP, _ = random_inputs(1, 5 + memory)
    relative = model._relative(positions_BSP, torch.ones(1, 5, dtype=torch.bool))
    x_BTD = source_BSD[:, memory:]
    ours = model.layers[0].attention(x_BTD, source_BSD, model.u_HK, model.v_HK, relative)[0]
    naive = naive_attention(model, x_BTD[0], source_BSD[0], positions_BSP[0])
    assert (ours - naive).abs().max() < 1e-6


@pytest.mark.parametrize("kind", ["transformer-xl", "segatron-xl"])
def test_the_future_changes_nothing(kind: str) -> None:
    """Neither a later token nor a later sentence or paragraph index (offsets are exact: Eq. 3 is causal)."""
    torch.manual_seed(5)
    network = build(small(**KINDS[kind]), VOCABULARY).eval()
    ids_BT, positions_BTP, real_BT = random_inputs(2, 8)
    before_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    ids_BT, positions_BTP = ids_BT.clone(), positions_BTP.clone()
    ids_BT[:, 5:] = 7
    positions_BTP[:, 5:, 2:] += 3
    after_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    assert torch.equal(before_BTD[:, :5], after_BTD[:, :5])
    assert not torch.allclose(before_BTD[:, 5:], after_BTD[:, 5:])


@pytest.mark.parametrize("kind", ["transformer-xl", "segatron-xl"])
def test_windows_with_memory_equal_one_pass(kind: str) -> None:
    """A memory as long as the text leaves nothing out, positions included."""
    torch.manual_seed(6)
    network = build(small(**{**KINDS[kind], "recurrence": {"memory": 12}}), VOCABULARY).eval()
    ids_BT, positions_BTP, real_BT = random_inputs(2, 12)
    whole_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    memory, parts = None, []
    for start in range(0, 12, 3):
        part = slice(start, start + 3)
        hidden_BTD, memory = network(ids_BT[:, part], positions_BTP[:, part], real_BT[:, part], memory)
        parts.append(hidden_BTD)
    assert torch.allclose(torch.cat(parts, dim=1), whole_BTD, atol=1e-5)


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


def test_indices_over_the_maximum_are_brought_down_by_subtracting() -> None:
    indices = torch.tensor([[2, 3, 4, 5], [0, 1, 2, 3], [0, 0, 4, 4]])
    assert fit_maximum(indices, 4).tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 3, 3]]
