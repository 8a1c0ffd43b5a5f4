"""Times of several ways to do one thing, measured in turns, so that a slower moment of the machine hits all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: Runs a thing once; returns the seconds that it took, or None where the caller is to measure them.
Run = Callable[[], float | None]

#: What `steady` spends on one figure: seconds, and calls at most.
STEADY_SECONDS, STEADY_CALLS = 0.25, 25


@dataclass(frozen=True)
class Paired:
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


def in_turns(ways: Mapping[str, Run], rounds: int) -> Paired:
    """Run every way once a round, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, run in ways.items():
            begun = time.perf_counter()
            told = run()
            taken = time.perf_counter() - begun if told is None else told
            if number:
                seconds[name].append(taken)
    return Paired(seconds)


def timed(call: Callable[[], object]) -> Run:
    """A call as a way: it is run once, and what it gives is let go."""

    def run() -> None:
        call()

    return run


def steady(call: Callable[[], object]) -> Run:
    """A short call as a way: it is run again and again for a while, and its time is the median.

    It may tell its own seconds (a float), as `Run` does.
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


def quickest(ways: Mapping[str, Run]) -> str:
    """The way that takes least in one round after another: what a peer is compared by, where it has a choice."""
    return min(ways, key=in_turns(ways, 1).median)
