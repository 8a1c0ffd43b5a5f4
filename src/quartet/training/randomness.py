"""Random numbers that depend on the seed and the step alone: a resumed training draws what it would have drawn."""

from __future__ import annotations

import numpy as np
import torch

#: What the numbers are for; each use has a stream of its own.
INITIALISATION, DROPOUT, CORRUPTION, VALIDATION = range(4)


def seed_of(seed: int, use: int, step: int = 0) -> int:
    """A 63-bit seed for one use at one step."""
    high, low = np.random.SeedSequence([seed, use, step]).generate_state(2)
    return (int(high) << 31) ^ int(low)


def generator(seed: int, use: int, step: int = 0) -> torch.Generator:
    """A generator on the CPU, whatever the device of the training."""
    return torch.Generator().manual_seed(seed_of(seed, use, step))
