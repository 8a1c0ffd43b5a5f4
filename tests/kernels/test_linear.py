"""Linear maps by oneDNN, or of imitated bfloat16, give what PyTorch's own give, and so do their gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from quartet.hardware.processor import KINDS, detected_kind
from quartet.kernels.linear import (
    Linear,
    has_onednn,
    input_gradient,
    linear,
    product,
    quicken,
    weight_gradient,
)

SHAPES = [(1,), (24,), (3, 7), (0,), (2, 0)]


#: Of the kinds of processor: how many products without a gradient, and of a training step, are oneDNN's.
BY_ONEDNN = {
    "intel-avx512-bf16": (1, 0),
    "intel-avx512": (1, 0),
    "intel-avx2": (1, 0),
    "amd-avx512-bf16": (1, 3),
    "amd-avx2": (0, 0),
    "other-bf16": (0, 0),
    "other": (0, 0),
}


def drawn(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """x (*shape, 16), W (40, 16) and b (40,), each with a gradient to come."""
    torch.manual_seed(len(shape))
    sizes = [(*shape, 16), (40, 16), (40,)]
    return [torch.randn(size, dtype=dtype).requires_grad_() for size in sizes]


@pytest.mark.skipif(detected_kind().maker == "other", reason="another processor than oneDNN is used on")
def test_this_pytorch_has_the_quicker_way() -> None:
    assert has_onednn()


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_values_and_gradients_are_those_of_pytorch(
    shape: tuple[int, ...], dtype: torch.dtype, biased: bool
) -> None:
    ours, theirs = drawn(shape, dtype)[: 2 + biased], drawn(shape, dtype)[: 2 + biased]
    found, expected = linear(*ours), F.linear(*theirs)
    torch.testing.assert_close(found, expected)
    direction = torch.randn_like(expected)
    found.backward(direction)
    expected.backward(direction)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    with torch.inference_mode():
        torch.testing.assert_close(linear(*ours), expected.detach())


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("rows", [0, 1, 24])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_gradients_by_themselves(rows: int, dtype: torch.dtype) -> None:
    x_NI, weight_OI, bias_O = drawn((rows,), dtype)
    grad_NO = torch.randn(rows, 40, dtype=dtype)
    F.linear(x_NI, weight_OI, bias_O).backward(grad_NO)
    x_NI, expected_NI = x_NI.detach(), x_NI.grad
    expected_OI = weight_OI.grad
    assert expected_OI is not None
    torch.testing.assert_close(input_gradient(grad_NO, weight_OI.detach()), expected_NI)
    torch.testing.assert_close(weight_gradient(grad_NO, x_NI), expected_OI)
    near = {"rtol": 0.02, "atol": 0.1} if dtype == torch.bfloat16 else {"rtol": 1e-5, "atol": 1e-5}
    for wide in (dtype, torch.promote_types(dtype, torch.float32)):
        earlier_OI = torch.ones(40, 16, dtype=wide)
        together_OI = weight_gradient(grad_NO, x_NI, earlier_OI)
        assert together_OI is earlier_OI
        torch.testing.assert_close(together_OI, 1 + expected_OI.to(wide), **near)


@pytest.mark.skipif(not has_onednn(), reason="no oneDNN to choose")
def test_each_processor_has_its_quicker_library(processor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward without a gradient, forward of a training, and both products of gradients."""
    by_onednn: list[str] = []
    real = torch.ops.mkldnn._linear_pointwise

    def pointwise(x: Tensor, weight_OI: Tensor, *others: object) -> Tensor:
        by_onednn.append("product")
        return real(x, weight_OI, *others)  # type: ignore[no-any-return]

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", pointwise)
    x, weight, bias = drawn((24,))
    with torch.no_grad():
        linear(x, weight, bias)
    reading = len(by_onednn)
    linear(x, weight, bias).sum().backward()
    assert (reading, len(by_onednn) - reading) == BY_ONEDNN[processor]


def test_matrices_may_lie_in_any_order() -> None:
    x_NI, weight_OI, _ = (tensor.detach() for tensor in drawn((24,)))
    expected = F.linear(x_NI, weight_OI)
    turned = weight_OI.T.contiguous().T
    torch.testing.assert_close(product(x_NI.T.contiguous().T, turned), expected)
    torch.testing.assert_close(product(x_NI[::2], weight_OI[::2]), expected[::2, ::2])


def test_a_gradient_that_nobody_wants_is_not_made() -> None:
    x, weight, bias = drawn((3, 7))
    linear(x, weight.detach(), bias.detach()).sum().backward()
    assert x.grad is not None
    assert weight.grad is None
    assert bias.grad is None


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_under_autocast_it_is_pytorchs(biased: bool) -> None:
    ours, theirs = drawn((3, 7))[: 2 + biased], drawn((3, 7))[: 2 + biased]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, expected = linear(*ours), F.linear(*theirs)
    assert found.dtype == expected.dtype == torch.bfloat16
    torch.testing.assert_close(found, expected)
    direction = torch.randn_like(expected)
    found.backward(direction)
    expected.backward(direction)
    for one, other in zip(ours, theirs, strict=True):
        assert one.grad is not None
        assert one.grad.dtype == torch.float32
        torch.testing.assert_close(one.grad, other.grad, rtol=0.016, atol=1e-5)


def test_imitated_bfloat16_is_multiplied_in_float32(processor: str) -> None:
    """And what the processor multiplies itself stays as it is."""
    x_NI, weight_OI, bias_O = (tensor.detach().bfloat16() for tensor in drawn((24,)))
    with Multiplied() as seen:
        grad_NO = product(x_NI, weight_OI, bias_O)
        input_gradient(grad_NO, weight_OI)
        weight_gradient(grad_NO, x_NI)
    assert seen.types == [torch.bfloat16 if KINDS[processor].has_bfloat16 else torch.float32] * 3


class Multiplied(TorchDispatchMode):
    """Keeps the type of each product of matrices."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.types: list[torch.dtype] = []

    def __torch_dispatch__(
        self, operation: Any, types: object, arguments: tuple[Any, ...] = (), words: Any = None
    ) -> Any:
        if operation._schema.name in ("aten::mm", "aten::addmm", "mkldnn::_linear_pointwise"):
            self.types.append(arguments[0].dtype)
        return operation(*arguments, **(words or {}))


@pytest.mark.usefixtures("processor")
def test_bfloat16_is_the_exact_product_rounded() -> None:
    x_NI, weight_OI, bias_O = (tensor.detach().bfloat16() for tensor in drawn((24,)))
    exact_NO = F.linear(x_NI.double(), weight_OI.double(), bias_O.double())
    # Near the middle between two bfloat16 numbers, float32's sum may fall to the other one.
    torch.testing.assert_close(
        product(x_NI, weight_OI, bias_O).double(), exact_NO, rtol=2**-8 + 1e-6, atol=1e-6
    )


def test_networks_of_others_are_quickened_in_their_place() -> None:
    class Scaled(nn.Linear):
        """Not just a linear map."""

        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(16, 16), nn.Sequential(nn.GELU(), Scaled(16, 4)))
    x = torch.randn(5, 16)
    expected = network(x)
    names = [name for name, _ in network.named_parameters()]
    quicken(network)
    assert isinstance(network[0], Linear)
    assert [name for name, _ in network.named_parameters()] == names
    torch.testing.assert_close(network(x), expected)
