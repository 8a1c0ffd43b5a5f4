"""Dropout by shared random words is dropout: its rate, its scale, its gradient, and no place knows of another."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn

from quartet.kernels.dropout import NUMBERS, Dropout, dropout_mask, rate
from quartet.models.architectures import build
from tests.models.shapes import VARIANTS, VOCABULARY, small

MANY = 1 << 20


def dropped(x: torch.Tensor, p: float, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    output: torch.Tensor = Dropout(p).train()(x)
    return output


@pytest.mark.parametrize("p", [0.1, 0.15, 0.5, 1 / NUMBERS, 0.9])
def test_so_many_are_zeroed_and_the_others_scaled(p: float) -> None:
    y = dropped(torch.ones(MANY), p)
    assert abs(rate(p) - p) <= 0.5 / NUMBERS
    zeroed = int((y == 0).sum())
    assert abs(zeroed - MANY * rate(p)) < 5 * (MANY * rate(p) * (1 - rate(p))) ** 0.5
    torch.testing.assert_close(y[y != 0].unique(), torch.tensor([1 / (1 - rate(p))]))


def test_a_place_does_not_know_its_neighbours() -> None:
    """The four places of one random word, and the words beside one another, are zeroed independently."""
    zeroed_NP = (dropped(torch.ones(MANY), 0.1) == 0).double().view(-1, 8)
    correlation_PP = torch.corrcoef(zeroed_NP.T)
    bound = 5 / len(zeroed_NP) ** 0.5
    for one, other in itertools.combinations(range(8), 2):
        assert abs(float(correlation_PP[one, other])) < bound


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 5), (3, 4, 7)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_shape_and_type_are_kept_and_the_gradient_has_the_same_mask(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    x = torch.randn(shape, dtype=dtype).requires_grad_()
    y = dropped(x, 0.5)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    torch.manual_seed(1)
    factor = dropout_mask(x, 0.5)
    torch.testing.assert_close(y, x * factor)
    y.sum().backward()
    torch.testing.assert_close(x.grad, factor)


def test_a_seed_gives_its_mask() -> None:
    x = torch.ones(1000)
    assert torch.equal(dropped(x, 0.3, seed=4), dropped(x, 0.3, seed=4))
    assert not torch.equal(dropped(x, 0.3, seed=4), dropped(x, 0.3, seed=5))


@pytest.mark.parametrize("p", [0.0, 1e-9, 1 - 1e-9, 1.0])
def test_what_zeroes_nothing_or_all_is_pytorch_s(p: float) -> None:
    x = torch.randn(64)
    torch.manual_seed(1)
    expected = nn.Dropout(p).train()(x)
    torch.testing.assert_close(dropped(x, p), expected)


def test_nothing_is_zeroed_outside_training() -> None:
    x = torch.randn(64)
    assert Dropout(0.5).eval()(x) is x


@pytest.mark.parametrize("kind", VARIANTS)
def test_every_network_drops_this_way(kind: str) -> None:
    continues_V = torch.arange(VOCABULARY) % 3 == 0
    network = build(small(dropout=0.1, **VARIANTS[kind]), VOCABULARY, continues_V)
    found = {type(module) for module in network.modules() if isinstance(module, nn.Dropout)}
    assert found == {Dropout}
