"""Seconds of several ways to do a thing, measured in turns, so that a slower moment of the machine hits all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

#: Does a thing once and returns the seconds that it took.
Timer = Callable[[], float]
Seconds = NDArray[np.float64]
Name = TypeVar("Name")

#: Calls of each way before any that counts.
WARM_UP = 2
#: Seconds. A way that takes less is called twice in each of its turns and the second call counts: the ways before it
#: have driven its weights out of the processor's caches, where steady use would have kept them.
BRIEF = 0.05


def device_timer(call: Callable[[], object], device: str = "cpu") -> Timer:
    """The call as a timer, which waits for a GPU to finish before it starts the clock and before it stops it.

    Args:
        device: where the call computes, ``cpu`` or ``cuda``.
    """

    def timer() -> float:
        wait_for(device)
        begun = time.perf_counter()
        call()
        wait_for(device)
        return time.perf_counter() - begun

    return timer


def wait_for(device: str) -> None:
    """Return when all that was given to a GPU is done; at once for the CPU."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize()


def in_turns(
    timers: Mapping[Name, Timer],
    rounds: int,
    done: Callable[[], None] | None = None,
    warm_up: int = WARM_UP,
    brief: float = BRIEF,
) -> dict[Name, Seconds]:
    """Run every way once a round: `torch.utils.benchmark` times one way after the other.

    Args:
        done: called after each round, the warm-up included.
        warm_up, brief: see `WARM_UP` and `BRIEF`.

    Returns:
        By way, (rounds,) seconds. The same index is the same round for all.
    """
    called_twice = {name: min(timer() for _ in range(warm_up)) < brief for name, timer in timers.items()}
    if done is not None:
        done()
    found = {name: np.zeros(rounds) for name in timers}
    for number in range(rounds):
        for name, timer in timers.items():
            if called_twice[name]:
                timer()
            found[name][number] = timer()
        if done is not None:
            done()
    return found
