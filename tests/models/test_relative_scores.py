"""The ways to the position term of Eq. 1 agree with the sum over pairs; the released offsets leak, in numbers too."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from quartet.config.model import Position
from quartet.models.positions import WAVELENGTH_BASE, RelativePhases, split_dimension
from quartet.models.relative_scores import OffsetTables, Rotations, by_distance, offsets_to_last
from tests.models.drawn import LENGTHS, SEEDS, network_of, other_ordinary, restarted
from tests.models.shapes import KINDS, random_inputs, small

HEADS, WIDTH, DIM, TOKENS = 2, 5, 22, 7
COLUMN = {"sequence": 0, "token": 1, "sentence": 2, "paragraph": 3}


def written_out(
    query_BTHK: Tensor, weight_HKD: Tensor, positions_BSP: Tensor, kinds: tuple[Position, ...]
) -> Tensor:
    """(B, H, T, S) by Eq. 2 and 3: the embedding of each pair's offsets, sines before cosines, kind by kind."""
    offsets_BTSP = (positions_BSP[:, -TOKENS:, None] - positions_BSP[:, None]).double()
    widths = split_dimension(DIM, len(kinds))
    sines, cosines = [], []
    for kind, width in zip(kinds, widths, strict=True):
        frequencies_F = WAVELENGTH_BASE ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        angles = offsets_BTSP[..., COLUMN[kind], None] * frequencies_F
        sines.append(angles.sin())
        cosines.append(angles.cos())
    r_BTSD = torch.cat([*sines, *cosines], dim=-1)
    return torch.einsum("bthk,hkd,btsd->bhts", query_BTHK, weight_HKD, r_BTSD)


@pytest.mark.parametrize("way", [Rotations, OffsetTables])
@pytest.mark.parametrize("index", ["running", "reset"])
@pytest.mark.parametrize(
    "kinds",
    [("sequence",), ("token", "sentence"), ("token", "paragraph"), ("token", "sentence", "paragraph")],
)
def test_each_way_is_equation_1(
    way: type[Rotations] | type[OffsetTables], index: str, kinds: tuple[Position, ...]
) -> None:
    generator = torch.Generator().manual_seed(5)
    positions_BSP = torch.randint(0, 2, (3, 12, 4), generator=generator).cumsum(1)
    positions_BSP[..., :2] = torch.arange(12)[:, None]
    if index == "reset":  # offsets below 0, as where a document begins in the window
        positions_BSP[:, 8:] -= positions_BSP[:, 8:9].clone()
    query_BTHK = torch.randn(3, TOKENS, HEADS, WIDTH, generator=generator, dtype=torch.float64)
    weight_HKD = torch.randn(HEADS, WIDTH, DIM, generator=generator, dtype=torch.float64)
    found_BHTS = way.of(RelativePhases(DIM, kinds).double(), positions_BSP, TOKENS).scores(
        query_BTHK, weight_HKD
    )
    wanted_BHTS = written_out(query_BTHK, weight_HKD, positions_BSP, kinds)
    seen_TS = torch.ones(TOKENS, 12, dtype=torch.bool).tril(12 - TOKENS)
    # The frequencies are made in float32 by default.
    torch.testing.assert_close(found_BHTS[..., seen_TS], wanted_BHTS[..., seen_TS], rtol=0, atol=1e-4)


def test_the_ways_have_the_same_gradients() -> None:
    generator = torch.Generator().manual_seed(6)
    positions_BSP = torch.randint(0, 2, (2, 9, 4), generator=generator).cumsum(1)
    phases = RelativePhases(DIM, ("token", "sentence", "paragraph")).double()
    seen_TS = torch.ones(TOKENS, 9, dtype=torch.bool).tril(9 - TOKENS)
    gradients = []
    for way in (Rotations, OffsetTables):
        draw = torch.Generator().manual_seed(7)
        query_BTHK = torch.randn(
            2, TOKENS, HEADS, WIDTH, generator=draw, dtype=torch.float64, requires_grad=True
        )
        weight_HKD = torch.randn(HEADS, WIDTH, DIM, generator=draw, dtype=torch.float64, requires_grad=True)
        scores_BHTS = way.of(phases, positions_BSP, TOKENS).scores(query_BTHK, weight_HKD)
        (scores_BHTS * seen_TS).square().sum().backward()
        gradients.append((query_BTHK.grad, weight_HKD.grad))
    for rotated, looked_up in zip(*gradients, strict=True):
        torch.testing.assert_close(rotated, looked_up)


#: Sentence indices of six tokens, and from each query to the keys 0 to itself the offsets of both kinds.
SIX: list[tuple[list[int], list[str], list[str]]] = [
    (
        [0, 0, 0, 1, 1, 1],
        ["0", "0 0", "0 0 0", "1 1 1 0", "1 1 1 0 0", "1 1 1 0 0 0"],
        ["0", "0 0", "0 0 0", "1 0 0 0", "1 1 0 0 0", "1 1 1 0 0 0"],
    ),
    (
        [0, 0, 0, 1, 1, 2],
        ["0", "0 0", "0 0 0", "1 1 1 0", "1 1 1 0 0", "2 2 2 1 1 0"],
        ["0", "1 0", "1 1 0", "2 1 1 0", "2 2 1 1 0", "2 2 2 1 1 0"],
    ),
]


def positions_of(sentences: list[int]) -> Tensor:
    """(1, S, 4) running indices."""
    sequence = list(range(len(sentences)))
    return torch.tensor([sequence, sequence, sentences, [0] * len(sentences)]).T[None]


def exact(positions_BSP: Tensor, kinds: list[Position], kind: int) -> Tensor:
    """The offsets (S, S) of one part of the phases, from query to key, read off their dot products.

    A query side that holds 1 at the sine of the part's slowest frequency w, and nothing else, gives sin(offset w).
    """
    phases = RelativePhases(32, kinds)
    slowest = sum(phases.widths[: kind + 1]) - 1
    sines_BTHD = torch.zeros(*positions_BSP.shape[:2], 1, 32)
    sines_BTHD[..., slowest] = 1.0
    angles_BSF = phases.angles(positions_BSP)
    turned_BTHD = RelativePhases.queries(sines_BTHD, angles_BSF)
    products_TS = turned_BTHD[0, :, 0] @ RelativePhases.keys(angles_BSF)[0].T
    return (products_TS.asin() / phases.frequencies_F[slowest]).round().long()


def released(positions_BSP: Tensor, column: int) -> Tensor:
    """The offsets (S, S) that the released kind gives to each query and key."""
    size = positions_BSP.shape[1]
    to_last_S = offsets_to_last(positions_BSP, torch.tensor([size - 1]))[0, :, column]
    return by_distance(to_last_S.expand(1, 1, size, size))[0, 0]


def rows(offsets_TS: Tensor) -> list[str]:
    """As the tables write them: from each query to the keys up to itself."""
    return [" ".join(map(str, row[: at + 1])) for at, row in enumerate(offsets_TS.tolist())]


@pytest.mark.parametrize(("sentences", "of_equation", "of_release"), SIX)
def test_the_offsets_of_six_tokens(
    sentences: list[int], of_equation: list[str], of_release: list[str]
) -> None:
    positions_BSP = positions_of(sentences)
    assert rows(exact(positions_BSP, ["sentence"], 0)) == of_equation
    assert rows(released(positions_BSP, 2)) == of_release
    distances = [" ".join(map(str, range(at, -1, -1))) for at in range(6)]
    assert rows(exact(positions_BSP, ["token", "sentence", "paragraph"], 0)) == distances
    assert rows(exact(positions_BSP, ["token", "sentence", "paragraph"], 1)) == of_equation
    assert rows(released(positions_BSP, 1)) == distances, "indices that rise by one a token come out right"


def test_a_window_behind_a_memory_has_the_last_rows() -> None:
    """Three queries behind a memory of three: the last three rows of the six."""
    for sentences, _, of_release in SIX:
        to_last_S = offsets_to_last(positions_of(sentences), torch.tensor([5]))[0, :, 2]
        window_TS = by_distance(to_last_S.expand(1, 1, 3, 6))[0, 0]
        found = [" ".join(map(str, row[: at + 4])) for at, row in enumerate(window_TS.tolist())]
        assert found == of_release[3:]


def moved(offset: str, sentence: int, token: int) -> list[int]:
    """Of twelve tokens, which outputs move when the last gets another sentence index, or another id."""
    network = network_of(
        1, **{**KINDS["segatron-xl"], "init_std": 0.3, "recurrence": {"offset": offset}, "max_length": 12}
    ).double()
    ids_BT, _, real_BT = random_inputs(1, 12)
    positions_BTP = positions_of([0] * 5 + [1] * 7)
    changed_BT, changed_BTP = ids_BT.clone(), positions_BTP.clone()
    changed_BT[0, -1] = other_ordinary(ids_BT[0, -1], token)
    changed_BTP[0, -1, 2] += sentence
    with torch.no_grad():
        before_BTD, _ = network(ids_BT, positions_BTP, real_BT)
        after_BTD, _ = network(changed_BT, changed_BTP, real_BT)
    distance_T = (before_BTD - after_BTD)[0].abs().amax(-1)
    assert ((distance_T < 1e-12) | (distance_T > 1e-3)).all(), "it stays, but for rounding, or moves"
    places: list[int] = (distance_T > 1e-3).nonzero().flatten().tolist()
    return places


def test_a_new_sentence_at_the_last_token_moves_eleven_outputs_of_twelve() -> None:
    """All but the first token's, which sees itself alone; ten of them belong to tokens before the last.

    Another id of the last token moves its own output alone, with either kind.
    """
    assert moved("released", sentence=1, token=0) == list(range(1, 12))
    assert moved("released", sentence=0, token=1) == [11]
    assert moved("exact", sentence=1, token=0) == [11]
    assert moved("exact", sentence=0, token=1) == [11]


@settings(max_examples=40)
@given(
    how=st.sampled_from([("running", "sequence"), ("running", "token"), ("reset", "sequence")]),
    seed=SEEDS,
    lengths=LENGTHS,
    data=st.data(),
)
def test_released_offsets_that_do_not_leak(
    how: tuple[Any, Position], seed: int, lengths: list[int], data: st.DataObject
) -> None:
    """Those that :attr:`ModelConfig.leaks` clears: the outputs are those of exact offsets."""
    index, position = how
    changes: dict[str, Any] = {**KINDS["transformer-xl"], "positions": [position], "init_std": 0.3}
    recurrence = {"index": index, "offset": "released"}
    assert not small(**changes, recurrence=recurrence).leaks
    ids_BT, positions_BTP, real_BT = random_inputs(len(lengths), max(lengths), lengths)
    if index == "reset":
        positions_BTP = restarted(positions_BTP)
    earlier = data.draw(st.integers(0, max(lengths) - 1))
    found = []
    for offset in ("released", "exact"):
        network = network_of(seed, **changes, recurrence={**recurrence, "offset": offset})
        memory, parts = None, []
        for part in (slice(0, earlier), slice(earlier, None)) if earlier else (slice(None),):
            with torch.no_grad():
                hidden_BTD, memory = network(
                    ids_BT[:, part], positions_BTP[:, part], real_BT[:, part], memory
                )
            parts.append(hidden_BTD)
        found.append(torch.cat(parts, 1)[real_BT])
    assert torch.allclose(found[0], found[1], atol=1e-5)
