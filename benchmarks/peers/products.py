"""The matrix products of a computation, timed alone: the least that it can cost on a device.

What is recorded are the shapes of all products that really ran; to replay them is to run those shapes, on other
numbers, with nothing between them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from quartet.kernels.linear import product

#: (batch, rows, inner, columns): (batch, rows, inner) times (batch, inner, columns).
ProductShape = tuple[int, int, int, int]

# In inference mode PyTorch shows a layer as one operation, else as those that it consists of: never both.
_LINEAR, _MATMUL = ("aten::linear", "mkldnn::_linear_pointwise"), ("aten::matmul",)
_AFFINE, _PLAIN, _BATCHED = ("aten::addmm",), ("aten::mm",), ("aten::bmm",)
_ATTENTION = (
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_fused_attention_overrideable",
)


class ProductCounter(TorchDispatchMode):
    """Within, every matrix product that runs is counted by its shape; attention counts as its two products.

    Attributes:
        counts: how often each shape ran.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: Counter[ProductShape] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Note the shapes of a product, and let everything run."""
        name = func.name().split(".")[0]
        if name in _LINEAR:
            self._note(1, args[0].reshape(-1, args[0].shape[-1]), args[1].t())
        elif name in _MATMUL:
            left, right = args[:2]
            if right.dim() == 2:
                self._note(1, left.reshape(-1, left.shape[-1]), right)
            else:
                batch = torch.broadcast_shapes(left.shape[:-2], right.shape[:-2]).numel()
                self._note(batch, left, right)
        elif name in _AFFINE:
            self._note(1, args[1], args[2])
        elif name in _PLAIN:
            self._note(1, args[0], args[1])
        elif name in _BATCHED:
            self._note(args[0].shape[0], args[0], args[1])
        elif name in _ATTENTION:
            query, key, value = args[:3]
            batch = query.shape[0] * query.shape[1]
            self._note(batch, query, key.transpose(-2, -1))
            self.counts[batch, query.shape[-2], key.shape[-2], value.shape[-1]] += 1
        return func(*args, **(kwargs or {}))

    def _note(self, batch: int, left: Tensor, right: Tensor) -> None:
        self.counts[batch, left.shape[-2], left.shape[-1], right.shape[-1]] += 1


def record_products(call: Callable[[], object]) -> Counter[ProductShape]:
    """The matrix products of one call.

    Raises:
        ValueError: there were none.
    """
    products = ProductCounter()
    with products:
        call()
    if not products.counts:
        raise ValueError("no matrix product was seen")
    return products.counts


def replay(
    counts: Mapping[ProductShape, int], device: str = "cpu", own_weights: bool = False
) -> Callable[[], float]:
    """A function that runs all products once, and returns the seconds that they took.

    The operands are made before the clock starts. A weight's matrix lies as `torch.nn.Linear` keeps it, and is
    multiplied by the quickest way that the models have (:func:`quartet.kernels.linear.product`).

    Args:
        own_weights: each product has a matrix of its own, as a model's layers do, and none is in a cache because the
            product before had it too. False: products of one shape share theirs.
    """
    operands = []
    for (batch, rows, inner, columns), times in counts.items():
        for _ in range(times if own_weights else 1):
            left = torch.randn(batch, rows, inner, device=device)
            right = torch.randn(batch, columns, inner, device=device)
            runs = 1 if own_weights else times
            operands.append((left, right.transpose(1, 2), runs) if batch > 1 else (left[0], right[0], runs))

    @torch.inference_mode()
    def run() -> float:
        _wait(device)
        begun = time.perf_counter()
        for left, right, times in operands:
            for _ in range(times):
                if left.dim() == 2:
                    product(left, right)
                else:
                    torch.matmul(left, right)
        _wait(device)
        return time.perf_counter() - begun

    return run


def weight_reading(counts: Mapping[ProductShape, int], device: str = "cpu") -> Callable[[], float]:
    """A function that reads all weights of the products once, and returns the seconds that this took.

    No model with these weights can be quicker, however few its tokens are, unless they all stay in a cache. Products
    in batches, as attention's, have no weights.
    """
    weights = [
        torch.randn(columns, inner, device=device)
        for (batch, _, inner, columns), times in counts.items()
        if batch == 1
        for _ in range(times)
    ]

    @torch.inference_mode()
    def run() -> float:
        _wait(device)
        begun = time.perf_counter()
        for weight in weights:
            weight.sum()
        _wait(device)
        return time.perf_counter() - begun

    return run


def flops(counts: Mapping[ProductShape, int]) -> int:
    """Floating-point operations of the products, a multiplication and an addition each counted."""
    return sum(
        2 * batch * rows * inner * columns * times for (batch, rows, inner, columns), times in counts.items()
    )


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()
