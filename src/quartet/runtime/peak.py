"""How fast this device multiplies matrices at best, and the share of it that a training reaches.

``python -m quartet.runtime.peak`` prints it, beside what PyTorch's own choice of a library reaches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.config.model import ModelEntry
from quartet.kernels.linear import product
from quartet.training.flops import training_flops

if TYPE_CHECKING:
    from quartet.training.fit import TrainedNetwork

#: Square matrices of this size keep every device busy, and take a CPU some milliseconds.
SIZE = {"cpu": 2048, "cuda": 8192}

#: Products timed; the quickest counts.
REPEATS = 10

#: Seconds after which no other is begun: an imitated type takes many for one.
LONGEST = 5.0

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def matrix_product_peak(
    device: str, precision: str, multiply: Callable[[Tensor, Tensor], Tensor] = product
) -> float:
    """Floating-point operations a second of the quickest of several large matrix products.

    Args:
        device: ``cpu`` (with the threads that torch has) or ``cuda``.
        precision: ``fp32``, ``bf16`` or ``fp16``.
        multiply: two matrices, the second transposed; as the models do it.
    """
    kind = device.partition(":")[0]
    size = SIZE[kind]
    left = torch.randn(size, size).to(device, TYPES[precision])
    right = torch.randn(size, size).to(device, TYPES[precision])
    best, started = float("inf"), time.perf_counter()
    for _ in range(REPEATS):
        begun = time.perf_counter()
        multiply(left, right)
        if kind == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begun)
        if time.perf_counter() - started > LONGEST:
            break
    return 2.0 * size**3 / best


def training_speed(
    model: ModelEntry, trained: TrainedNetwork, device: str, processes: int
) -> dict[str, float]:
    """How well the last run of a training used its devices; empty where it had no steps left to do.

    The shares are of the seconds of its steps; `flops-utilisation` is of the measured peak of this device's matrix
    products in the training's precision, times the number of devices, and counts real tokens alone.

    Args:
        processes: of the training, a device each.
    """
    work = trained.work
    if not trained.run_tokens:
        return {}
    flops = training_flops(
        model.config,
        trained.network.vocabulary,
        trained.run_tokens,
        work.targets,
        work.pairs / trained.run_tokens,
    )
    peak = matrix_product_peak(device, model.training.precision) * processes
    return {
        "devices": processes,
        "tokens-per-second": trained.run_tokens / work.seconds,
        "flops-per-second": flops / work.seconds,
        "peak-flops-per-second": peak,
        "flops-utilisation": flops / work.seconds / peak,
        "batch-making": work.waiting / work.seconds,
        "padding": 1 - trained.run_tokens / work.places,
    }


def main() -> None:
    """Print the peaks of the CPU, and of a GPU where there is one."""
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        for precision in ("fp32", "bf16"):
            ours, plain = (1e-9 * matrix_product_peak(device, precision, way) for way in (product, F.linear))
            threads = f", {torch.get_num_threads()} threads" if device == "cpu" else ""
            print(
                f"{device}{threads}, {precision}: {ours:.0f} GFLOP/s; torch.nn.functional.linear {plain:.0f}"
            )


if __name__ == "__main__":
    main()
