"""Times of several ways to do one thing, measured in turns, so that a slower moment of the machine hits all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from quartet.runtime import clock
from quartet.runtime.clock import Timer

#: What `steady` spends on one figure: seconds, and calls at most.
STEADY_SECONDS, STEADY_CALLS = 0.25, 25


@dataclass(frozen=True)
class PairedTimes:
    """Seconds of each way, one figure a round.

    Attributes:
        seconds: by the way's name, in the order of the rounds.
    """

    seconds: dict[str, list[float]]

    def median(self, name: str) -> float:
        """Seconds of one way, over the rounds."""
        return statistics.median(self.seconds[name])

    @property
    def medians(self) -> dict[str, float]:
        """Seconds of each way, over the rounds."""
        return {name: self.median(name) for name in self.seconds}

    def ratios(self, name: str, base: str) -> list[float]:
        """How many times as long `name` takes as `base`, in each round."""
        return [left / right for left, right in zip(self.seconds[name], self.seconds[base], strict=True)]


def in_turns(ways: Mapping[str, Timer], rounds: int) -> PairedTimes:
    """Timer every way once a round, after one round that does not count."""
    return PairedTimes(
        {name: found.tolist() for name, found in clock.in_turns(ways, rounds, warm_up=1, brief=0.0).items()}
    )


def steady_call(call: Callable[[], object]) -> Timer:
    """A short call as a way: it is run again and again for a while, and its time is the median.

    It may tell its own seconds (a float), as `Timer` does.
    """

    def run() -> float:
        taken: list[float] = []
        ends = time.perf_counter() + STEADY_SECONDS
        while not taken or (time.perf_counter() < ends and len(taken) < STEADY_CALLS):
            begun = time.perf_counter()
            told = call()
            taken.append(told if isinstance(told, float) else time.perf_counter() - begun)
        return statistics.median(taken)

    return run


def quickest_way(ways: Mapping[str, Timer]) -> str:
    """The way that takes least in one round after another: what a peer is compared by, where it has a choice."""
    return min(ways, key=in_turns(ways, 1).median)
