"""The fused loss is cross-entropy, and so are its gradients, however the rows are divided."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from quartet.kernels import cross_entropy
from quartet.kernels.cross_entropy import plain_cross_entropy, summed_cross_entropy

ROWS, DIM, VOCABULARY = 37, 6, 50


def inputs(dtype: torch.dtype) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    generator = torch.Generator().manual_seed(3)
    hidden_ND, weight_VD, bias_V = (
        torch.randn(shape, generator=generator).to(dtype).requires_grad_()
        for shape in ((ROWS, DIM), (VOCABULARY, DIM), (VOCABULARY,))
    )
    return (hidden_ND, weight_VD, bias_V), torch.randint(0, VOCABULARY, (ROWS,), generator=generator)


@pytest.mark.parametrize("rows_at_once", [1, 5, ROWS, 1000])
@pytest.mark.parametrize("tile", [1, 4 * VOCABULARY, 10**6])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("aligned", [1, VOCABULARY - 1])
def test_value_and_gradients(
    rows_at_once: int, tile: int, smoothing: float, aligned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the vocabulary is filled up, as on a GPU."""
    monkeypatch.setitem(cross_entropy.AT_ONCE, "cpu", rows_at_once * VOCABULARY * 8)
    monkeypatch.setitem(cross_entropy.ALIGNED, "cpu", aligned)
    monkeypatch.setattr(cross_entropy, "TILE", tile)
    found: list[Tensor | None] = []
    wanted: list[Tensor | None] = []
    for function, kept in ((summed_cross_entropy, found), (plain_cross_entropy, wanted)):
        tensors, targets_N = inputs(torch.float64)
        loss = function(*tensors, targets_N, smoothing)
        (3 * loss / ROWS).backward()
        kept += [loss.detach(), *(tensor.grad for tensor in tensors)]
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.usefixtures("processor")
def test_in_bfloat16_it_is_as_near_as_the_framework_is() -> None:
    exact = inputs(torch.float32)
    plain_cross_entropy(*exact[0], exact[1]).backward()
    wanted = [tensor.grad for tensor in exact[0]]
    errors = []
    for function in (summed_cross_entropy, plain_cross_entropy):
        tensors, targets_N = inputs(torch.float32)
        with torch.autocast("cpu", torch.bfloat16):
            loss = function(*tensors, targets_N)
        loss.backward()
        errors.append(
            [float((tensor.grad - right).abs().max()) for tensor, right in zip(tensors, wanted, strict=True)]
        )
    for ours, theirs in zip(*errors, strict=True):
        assert 0 < ours < 2 * theirs


def test_no_target_is_no_loss() -> None:
    tensors, _ = inputs(torch.float32)
    none = torch.zeros(0, dtype=torch.long)
    loss = summed_cross_entropy(tensors[0][:0], tensors[1], tensors[2], none)
    loss.backward()
    assert loss.item() == 0
    assert not tensors[1].grad.any()


def test_its_gradient_is_given_once() -> None:
    tensors, targets_N = inputs(torch.float64)
    loss = summed_cross_entropy(*tensors, targets_N)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
