"""The ways to the position term of Eq. 1 agree with each other and with the sum over pairs written out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from quartet.config.model import Position
from quartet.models.positions import WAVELENGTH_BASE, RelativePhases, split_dimension
from quartet.models.relative_scores import OffsetTables, Rotations

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
