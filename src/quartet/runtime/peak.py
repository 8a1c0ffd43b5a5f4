"""How fast this device multiplies matrices at best: what a model's speed is held against."""

from __future__ import annotations

import time

import torch

from quartet.models.linear import product

#: Square matrices of this size keep every device busy, and take a CPU some milliseconds.
SIZE = {"cpu": 2048, "cuda": 8192}

#: Products timed, after two that are not; the quickest counts.
REPEATS = 8

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def matrix_product_peak(device: str, precision: str) -> float:
    """Floating-point operations a second of the quickest of several large matrix products.

    Args:
        device: ``cpu`` (with the threads that torch has) or ``cuda``.
        precision: ``fp32``, ``bf16`` or ``fp16``.
    """
    kind = device.partition(":")[0]
    size = SIZE[kind]
    left = torch.randn(size, size).to(device, TYPES[precision])
    right = torch.randn(size, size).to(device, TYPES[precision])
    best = float("inf")
    for repeat in range(REPEATS + 2):
        begun = time.perf_counter()
        product(left, right)
        if kind == "cuda":
            torch.cuda.synchronize()
        if repeat >= 2:
            best = min(best, time.perf_counter() - begun)
    return 2.0 * size**3 / best
