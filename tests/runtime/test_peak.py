"""The peak is the quickest product's, and a slow device is not asked for many."""

from __future__ import annotations

import itertools
import re

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.kernels.linear import product
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


def test_the_command_prints_each_device_and_type_ours_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speeds = {product: 3e9, F.linear: 2e9}
    monkeypatch.setattr(peak, "matrix_product_peak", lambda device, precision, way: speeds[way])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    peak.main()
    lines = [line.split(": ") for line in capsys.readouterr().out.splitlines()]
    assert [of for of, _ in lines] == [
        "cpu, 7 threads, fp32",
        "cpu, 7 threads, bf16",
        "cuda, fp32",
        "cuda, bf16",
    ]
    assert all(re.findall(r"\d+", figures) == ["3", "2"] for _, figures in lines)
