"""Random numbers that depend on the seed and the step alone: a resumed training draws what it would have drawn."""

from __future__ import annotations

import numpy as np

from quartet.objectives.base import RowRandom

#: What the numbers are for; each use has a stream of its own.
INITIALISATION, DROPOUT, CORRUPTION, VALIDATION = range(4)


def seed_of(seed: int, use: int, step: int = 0, part: int = 0) -> int:
    """A 63-bit seed for one use at one step, or in one part of it."""
    high, low = np.random.SeedSequence([seed, use, step, part]).generate_state(2)
    return (int(high) << 31) ^ int(low)


def rows(seed: int, use: int, step: int) -> RowRandom:
    """A generator for each row of the step's whole batch."""
    key = seed_of(seed, use, step)
    return lambda row: np.random.Generator(np.random.Philox(key=np.array([key, row], dtype=np.uint64)))
