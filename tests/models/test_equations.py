"""Every attention and every whole model against the papers' equations written out in naive.py, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from quartet.models.attention import VisibleKeys
from quartet.models.encoder import Encoder
from quartet.models.transformer_xl import TransformerXL
from quartet.models.tta import TTA
from tests.models import naive
from tests.models.drawn import CONTINUES_V, RUNNING_SUBSETS, SUBSETS, network_of, restarted
from tests.models.shapes import random_inputs

#: The largest difference that is allowed; those found are under 1e-13.
ERROR = 1e-9

SMALL: dict[str, Any] = {"dim": 12, "heads": 2, "inner": 10, "layers": 2, "init_std": 0.4}
LAE = {**SMALL, "objective": "lae", "architecture": "tta", "reads": "spans"}
#: Fewer rows than the inputs' indices need.
MAXIMA = {"token": 3, "sentence": 2, "paragraph": 1}
INDICES = [("running", subset) for subset in RUNNING_SUBSETS] + [("reset", subset) for subset in SUBSETS]


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def segmented(width: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Ids (1, T) and indices that restart (1, T, P), with three sentences or more."""
    torch.manual_seed(seed)
    while True:
        ids_BT, positions_BTP, _ = random_inputs(1, width)
        if positions_BTP[0, -1, 2] >= 2:
            return ids_BT, restarted(positions_BTP)


def difference(ours_TD: Tensor, expected: list[np.ndarray]) -> float:
    return float(np.abs(ours_TD.detach().numpy() - np.stack(expected)).max())


def absolute(positions: tuple[str, ...], **settings: Any) -> dict[str, Any]:
    over = set(positions) - {"sequence"}
    return {**settings, "positions": positions, **({"maxima": MAXIMA} if over else {})}


# -- Shin et al. 2020, Eq. 1 and 2 ---------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 2, 6])
def test_attention_and_layer_of_tta(tokens: int) -> None:
    """Eq. 2 (several heads) and Eq. 1 around it; a lone token has no key, and the zero context."""
    network = network_of(1, **LAE, positions=["sequence"])
    assert isinstance(network, TTA)
    layer = network.layers[0]
    query_BTD, source_BSD = torch.randn(1, tokens, 12), torch.randn(1, tokens, 12)
    others = VisibleKeys.of(network.others(torch.full((1, tokens), 9)))
    queries, source = (list(naive.of(tensor[0])) for tensor in (query_BTD, source_BSD))
    attended = naive.attention(layer.attention, queries, source, lambda i, j: i != j)
    assert difference(layer.attention(query_BTD, source_BSD, others)[0], attended) < ERROR
    output = naive.post_norm(layer, queries, source, lambda i, j: i != j)
    assert difference(layer(query_BTD, source_BSD, others)[0], output) < ERROR


@pytest.mark.parametrize("mask", ["token", "word"])
@pytest.mark.parametrize("first_query", ["position", "mask_token"])
@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("positions", SUBSETS)
def test_tta_as_a_whole(positions: tuple[str, ...], normalise: bool, first_query: str, mask: str) -> None:
    options = {"mask": mask, "first_query": first_query, "normalise_inputs": normalise}
    network = network_of(2, **absolute(positions, **LAE), tta=options)
    assert isinstance(network, TTA)
    ids_BT, positions_BTP = segmented(7)
    words = list(range(7))
    if mask == "word":
        words = np.cumsum(~CONTINUES_V[ids_BT[0]].numpy()).tolist()
        assert len(set(words)) < 7
    hidden_BTD, _ = network(ids_BT, positions_BTP, torch.ones(1, 7, dtype=torch.bool))
    expected = naive.tta(network, ids_BT[0].tolist(), positions_BTP[0].tolist(), words)
    assert difference(hidden_BTD[0], expected) < ERROR
    logits = [naive.logits(network, row) for row in expected]
    assert difference(network.head.logits(hidden_BTD[0], network.tokens), logits) < ERROR


# -- BERT's encoder ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_attention_of_the_encoder(objective: str) -> None:
    """With the causal mask, or with a mask of padding: a row of 6 tokens and one of 4."""
    network = network_of(3, **SMALL, objective=objective)
    assert isinstance(network, Encoder)
    layer = network.layers[0]
    x_BTD = torch.randn(2, 6, 12)
    _, _, real_BT = random_inputs(2, 6, [6, 4])
    causal = objective == "clm"
    attended_BTD = layer.attention(x_BTD, x_BTD, network._visible(real_BT), causal)
    output_BTD = layer(x_BTD, x_BTD, network._visible(real_BT), causal)
    for row, length in enumerate([6, 4]):
        x = list(naive.of(x_BTD[row, :length]))
        attended = naive.attention(layer.attention, x, x, lambda i, j: not causal or j <= i)
        assert difference(attended_BTD[row, :length], attended) < ERROR
        output = naive.post_norm(layer, x, x, lambda i, j: not causal or j <= i)
        assert difference(output_BTD[row, :length], output) < ERROR


@pytest.mark.parametrize("objective", ["mlm", "clm"])
@pytest.mark.parametrize("positions", SUBSETS)
def test_the_encoder_as_a_whole(positions: tuple[str, ...], objective: str) -> None:
    """uniLM, biLM, BERT and SegaBERT, each row of a padded batch by itself."""
    network = network_of(4, **absolute(positions, **SMALL, objective=objective, reads="spans"))
    assert isinstance(network, Encoder)
    parts = [segmented(width, seed=width) for width in (7, 5)]
    ids_BT = torch.stack(
        [torch.nn.functional.pad(ids_BT[0], (0, 7 - ids_BT.shape[1])) for ids_BT, _ in parts]
    )
    positions_BTP = torch.stack(
        [torch.nn.functional.pad(rows_BTP[0], (0, 0, 0, 7 - rows_BTP.shape[1])) for _, rows_BTP in parts]
    )
    real_BT = torch.arange(7) < torch.tensor([[7], [5]])
    hidden_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    for row, (own_BT, own_BTP) in enumerate(parts):
        expected = naive.encoder(network, own_BT[0].tolist(), own_BTP[0].tolist())
        assert difference(hidden_BTD[row, : own_BT.shape[1]], expected) < ERROR


# -- Bai et al. 2021, Eq. 1 to 3 -----------------------------------------------------------------------------


def recurrent(positions: tuple[str, ...], **recurrence: Any) -> TransformerXL:
    network = network_of(
        5,
        **{**SMALL, "dim": 16},
        objective="clm",
        architecture="transformer-xl",
        reads="streams",
        head="tied",
        positions=positions,
        recurrence=recurrence,
    )
    assert isinstance(network, TransformerXL)
    return network


@pytest.mark.parametrize("memory", [0, 4])
@pytest.mark.parametrize("offset", ["exact", "released"])
@pytest.mark.parametrize(("index", "positions"), INDICES)
def test_relative_attention(index: str, positions: tuple[str, ...], offset: str, memory: int) -> None:
    """Eq. 1 with R of Eq. 3, or with the released shift of the offsets to the last token, over a memory and a window.

    Indices that restart give offsets of either sign.
    """
    network = recurrent(positions, index=index, offset=offset)
    layer = network.layers[0]
    source_BSD = torch.randn(1, 5 + memory, 16)
    x_BTD = source_BSD[:, memory:]
    positions_BSP = segmented(5 + memory)[1]
    if index == "running":
        positions_BSP = random_inputs(1, 5 + memory)[1]
    relative = network._relative(positions_BSP, torch.ones(1, 5, dtype=torch.bool))
    rows = (list(naive.of(x_BTD[0])), list(naive.of(source_BSD[0])), positions_BSP[0].tolist())
    ours_BTD = layer.attention(x_BTD, source_BSD, network.u_HK, network.v_HK, relative)
    assert difference(ours_BTD[0], naive.relative_attention(network, layer.attention, *rows)) < ERROR
    ours_BTD = layer(x_BTD, source_BSD, network.u_HK, network.v_HK, relative)
    assert difference(ours_BTD[0], naive.recurrent_layer(network, layer, *rows)) < ERROR


@pytest.mark.parametrize("memory", [0, 3, 100])
@pytest.mark.parametrize(("index", "positions"), INDICES)
def test_transformer_xl_as_a_whole(index: str, positions: tuple[str, ...], memory: int) -> None:
    """Windows of 4 with a memory, against one pass over the text in which a query sees what its window and memory hold.

    That is what a stream is: the hidden states in the memory are those of earlier windows, with contexts of their own.
    """
    window, size = 4, 14
    network = recurrent(positions, index=index, memory=memory)
    ids_BT, positions_BTP = segmented(size)
    if index == "running":
        positions_BTP = random_inputs(1, size)[1]
    kept, parts = None, []
    for start in range(0, size, window):
        part = slice(start, start + window)
        real_BT = torch.ones_like(ids_BT[:, part], dtype=torch.bool)
        hidden_BTD, kept = network(ids_BT[:, part], positions_BTP[:, part], real_BT, kept)
        parts.append(hidden_BTD[0])
    expected = naive.transformer_xl(
        network,
        ids_BT[0].tolist(),
        positions_BTP[0].tolist(),
        lambda i: max(0, i // window * window - memory),
    )
    assert difference(torch.cat(parts), expected) < ERROR
    logits = [naive.logits(network, row) for row in expected]
    assert difference(network.head.logits(torch.cat(parts), network.tokens), logits) < ERROR


@pytest.mark.parametrize(("index", "positions"), INDICES)
def test_released_offsets_as_a_whole(index: str, positions: tuple[str, ...]) -> None:
    """Two layers over one window; released offsets depend on where the window ends."""
    network = recurrent(positions, index=index, offset="released")
    ids_BT, positions_BTP = segmented(8)
    if index == "running":
        positions_BTP = random_inputs(1, 8)[1]
    hidden_BTD, _ = network(ids_BT, positions_BTP, torch.ones(1, 8, dtype=torch.bool))
    expected = naive.transformer_xl(network, ids_BT[0].tolist(), positions_BTP[0].tolist())
    assert difference(hidden_BTD[0], expected) < ERROR
