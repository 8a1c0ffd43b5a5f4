"""Times of several ways to do one thing, measured in turns, so that a slower moment of the machine hits all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: Runs a thing once; returns the seconds that it took, or None where the caller is to measure them.
Run = Callable[[], float | None]


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

    def ratio(self, name: str, base: str) -> dict[str, float]:
        """How many times as long `name` takes as `base`: the median, least and largest of the rounds' own ratios."""
        ratios = [left / right for left, right in zip(self.seconds[name], self.seconds[base], strict=True)]
        return {"median": statistics.median(ratios), "least": min(ratios), "largest": max(ratios)}


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
