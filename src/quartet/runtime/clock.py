"""Seconds of several ways to do a thing, measured in turns, so that a slower moment of the machine hits all of them.

What they say: a median and a spread, how many times as long another way takes, and how time grows with size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from quartet.results import Measure
from quartet.statistics.intervals import LEVEL, Floats, bootstrap_measure, weighted_median

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


def median_interval(values: np.ndarray) -> Measure:
    """The median with an interval of at least 95 % from the order statistics; none for fewer than 6 values."""
    from scipy.stats import binom

    ordered = np.sort(values)
    low = int(binom.ppf((1 - LEVEL) / 2, len(ordered), 0.5)) - 1
    if low < 0:
        return Measure(float(np.median(ordered)), len(ordered))
    return Measure(float(np.median(ordered)), len(ordered), float(ordered[low]), float(ordered[-1 - low]))


def quartile_range(values: np.ndarray) -> Measure:
    """The third quartile minus the first, without an interval: it is a spread itself."""
    from scipy.stats import iqr

    return Measure(float(iqr(values)), len(values))


def times_as_long(ours: Seconds, base: Seconds, samples: int, seed: int) -> Measure:
    """The ratio of two medians, with a bootstrap interval over the rounds in which both were timed.

    Args:
        ours, base: (rounds,) seconds, index by index of one round.
        samples: resamples of the bootstrap.
        seed: of its generator.
    """
    assert ours.shape == base.shape, "both were timed in the same rounds"

    def ratio(counts: Floats) -> Floats:
        return weighted_median(ours, counts) / weighted_median(base, counts)

    return bootstrap_measure(ratio, units=len(ours), n=len(ours), samples=samples, seed=seed)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> Measure:
    """The b of time = a · size^b, by least squares on the logarithms.

    The 95 % interval is the slope's (Student's t), so it holds both the noise of the timings and how far the points
    are from any power law. Two points have none.

    Args:
        sizes, times: one of each a point, above 0.

    Raises:
        ValueError: there are fewer than two sizes.
    """
    from scipy.stats import linregress, t

    if len(set(sizes)) < 2:
        raise ValueError("growth needs two sizes")
    fit = linregress(np.log(sizes), np.log(times))
    n = len(sizes)
    if n < 3:
        return Measure(float(fit.slope), n)
    half = float(t.ppf((1 + LEVEL) / 2, n - 2) * fit.stderr)
    return Measure(float(fit.slope), n, float(fit.slope) - half, float(fit.slope) + half)
