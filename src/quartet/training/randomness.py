"""Random numbers that depend on the seed and the step alone: a resumed training draws what it would have drawn."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from quartet.objectives.base import RowRandom

#: What the numbers are for; each use has a stream of its own.
INITIALISATION, DROPOUT, CORRUPTION, VALIDATION = range(4)

#: Philox-4x32's two multipliers, what it adds to the key each round, and its rounds (Salmon et al. 2011, "Parallel
#: random numbers: as easy as 1, 2, 3").
MULTIPLIERS = np.array([[[0xD2511F53]], [[0xCD9E8D57]]], dtype=np.uint64)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)


def seed_of(seed: int, use: int, step: int = 0, part: int = 0) -> int:
    """A 63-bit seed for one use at one step, or in one part of it."""
    high, low = np.random.SeedSequence([seed, use, step, part]).generate_state(2)
    return (int(high) << 31) ^ int(low)


def restart(seed: int, use: int, step: int = 0, part: int = 0) -> None:
    """Let PyTorch draw anew, by the seed of one use at one step.

    `torch.manual_seed` queues a call for every kind of device that has not been used yet, with the stack that asked for
    it: on a CPU a twentieth of a small model's step, and memory that grows with the steps.
    """
    number = seed_of(seed, use, step, part)
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)


def rows(seed: int, use: int, step: int) -> RowRandom:
    """The random words of the rows of the step's whole batch, whatever part of it asks for them."""
    key = seed_of(seed, use, step)
    return lambda first, count, columns: words(key, first, count, columns)


def words(key: int, first: int, rows: int, columns: int) -> NDArray[np.uint64]:
    """(4, rows, columns) of 32 random bits each, by the number of their row and of their column.

    Philox-4x32-10 over the counter (column, row, 0, 0): a hash, so any place can be asked for by itself.
    """
    counter = np.zeros((4, rows, columns), dtype=np.uint64)
    counter[0] = np.arange(columns, dtype=np.uint64)
    counter[1] = np.arange(first, first + rows, dtype=np.uint64)[:, None]
    return philox(counter, key)


def philox(counter: NDArray[np.uint64], key: int) -> NDArray[np.uint64]:
    """Philox-4x32-10 of counters (4, B, T) of 32 bits, with a key of 64 bits."""
    even, odd = counter[::2].copy(), counter[1::2].copy()  # words 0 and 2, words 1 and 3
    product, higher = np.empty_like(even), np.empty_like(even)
    low, high = key & 0xFFFFFFFF, key >> 32
    for _ in range(ROUNDS):
        np.multiply(even, MULTIPLIERS, out=product)
        np.right_shift(product, np.uint64(32), out=higher)
        np.bitwise_xor(higher[::-1], odd, out=even)
        even ^= np.array([[[low]], [[high]]], dtype=np.uint64)
        np.bitwise_and(product[::-1], _LOW, out=odd)
        low, high = (low + WEYL[0]) & 0xFFFFFFFF, (high + WEYL[1]) & 0xFFFFFFFF
    return np.stack([even[0], odd[0], even[1], odd[1]])
