"""The peak is the quickest product's, and a slow device is not asked for many."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from quartet.runtime import peak
from quartet.runtime.peak import REPEATS, matrix_product_peak


@pytest.mark.parametrize(
    ("seconds", "products"), [(0.1, REPEATS), (2.0, 3), (60.0, 1)], ids=["quick", "slow", "imitated"]
)
def test_products_end_where_they_take_long(
    seconds: float, products: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, made = [0.0], itertools.count()

    def multiply(left: Tensor, right: Tensor) -> Tensor:
        now[0] += seconds + (next(made) == 0)  # the first takes a second more
        return left

    monkeypatch.setattr("quartet.runtime.peak.time.perf_counter", lambda: now[0])
    monkeypatch.setitem(peak.SIZE, "cpu", 10)
    found = matrix_product_peak("cpu", "bf16", multiply)
    assert next(made) == products
    best = seconds + (products == 1)
    assert found == pytest.approx(2 * 10**3 / best)


def test_types_are_those_asked_for() -> None:
    seen: list[torch.dtype] = []

    def multiply(left: Tensor, right: Tensor) -> Tensor:
        seen.append(left.dtype)
        return right

    for precision in ("fp32", "bf16"):
        matrix_product_peak("cpu", precision, multiply)
    assert seen == [torch.float32] * REPEATS + [torch.bfloat16] * REPEATS
