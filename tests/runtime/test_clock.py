"""The clock takes turns, warms up, and waits for a GPU; what is made of the seconds is right."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from quartet.runtime.clock import (
    Timer,
    device_timer,
    exponent,
    in_turns,
    median_interval,
    quartile_range,
    times_as_long,
)


def told(name: str, seconds: float, ran: list[str]) -> Timer:
    """A way that says that it took so many seconds times the calls of all ways."""

    def timer() -> float:
        ran.append(name)
        return seconds * len(ran)

    return timer


def test_ways_take_turns_and_the_warm_up_does_not_count() -> None:
    ran: list[str] = []
    rounds: list[int] = []
    found = in_turns({"a": told("a", 1.0, ran), "b": told("b", 2.0, ran)}, 2, lambda: rounds.append(len(ran)))
    assert ran == ["a", "a", "b", "b", "a", "b", "a", "b"]
    assert {name: list(seconds) for name, seconds in found.items()} == {"a": [5.0, 7.0], "b": [12.0, 16.0]}
    assert rounds == [4, 6, 8], "after the warm-up and after each round"


def test_a_brief_way_is_called_once_more_in_each_turn_and_the_last_call_counts() -> None:
    ran: list[str] = []
    found = in_turns({"brief": told("brief", 1e-6, ran), "long": told("long", 1.0, ran)}, 2)
    assert ran[4:] == ["brief", "brief", "long"] * 2
    assert list(found["brief"]) == [6e-6, 9e-6]


def test_a_way_that_is_slow_only_at_first_is_brief() -> None:
    """Its first call compiles or reads from the disk: what it takes later says how it is timed."""
    ran: list[str] = []

    def timer() -> float:
        ran.append("late")
        return 1.0 if len(ran) == 1 else 1e-6

    in_turns({"late": timer}, 2)
    assert len(ran) == 2 + 2 * 2


def test_the_clock_runs_for_as_long_as_the_call() -> None:
    timer = device_timer(lambda: time.sleep(0.01))
    assert 0.01 <= timer() < 1.0


def test_a_gpu_is_waited_for_before_the_clock_starts_and_before_it_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: events.append("wait"))

    def tick() -> float:
        events.append("clock")
        return 0.0

    monkeypatch.setattr(time, "perf_counter", tick)
    device_timer(lambda: events.append("call"), "cuda")()
    assert events == ["wait", "clock", "call", "wait", "clock"]
    events.clear()
    device_timer(lambda: events.append("call"), "cpu")()
    assert events == ["clock", "call", "clock"]


@pytest.mark.parametrize("n", [6, 10, 50])
def test_the_interval_of_the_median_covers_it(n: int) -> None:
    draws = np.random.default_rng(0).exponential(size=(3000, n))
    held = []
    for measure in (median_interval(values) for values in draws):
        assert measure.ci_low is not None and measure.ci_high is not None
        held.append(measure.ci_low <= np.log(2) <= measure.ci_high)
    assert 0.945 < np.mean(held) <= 1.0


def test_few_values_have_a_median_and_no_interval() -> None:
    measure = median_interval(np.array([3.0, 1.0, 2.0]))
    assert (measure.value, measure.n, measure.ci_low, measure.ci_high) == (2.0, 3, None, None)


def test_the_spread_is_that_of_the_middle_half() -> None:
    assert quartile_range(np.array([1.0, 2.0, 3.0, 4.0, 100.0])).value == 2.0


def test_a_slow_round_hits_both_and_leaves_the_ratio() -> None:
    base = np.array([1.0, 1.1, 5.0, 0.9, 1.0, 7.0] * 2)
    ours = base * np.tile([2.95, 3.05], 6)
    ratio = times_as_long(ours, base, samples=200, seed=1)
    assert ratio.ci_low is not None and ratio.ci_high is not None
    assert 2.6 < ratio.ci_low < ratio.value < ratio.ci_high < 3.4
    alone = times_as_long(3 * base, base, samples=200, seed=1)
    assert alone.value == pytest.approx(3.0)
    assert alone.ci_low is None, "rounds that do not differ tell no spread"


def test_the_interval_of_a_ratio_covers_it() -> None:
    random = np.random.default_rng(1)
    held = []
    for seed in range(200):
        ours, base = random.lognormal(np.log(4), 0.1, 30), random.lognormal(0, 0.1, 30)
        ratio = times_as_long(ours, base, samples=300, seed=seed)
        assert ratio.ci_low is not None and ratio.ci_high is not None
        held.append(ratio.ci_low <= 4 <= ratio.ci_high)
    assert 0.9 <= np.mean(held) <= 0.995


@given(st.floats(0.2, 3.5), st.floats(1e-3, 10.0))
def test_a_power_law_has_its_exponent(power: float, factor: float) -> None:
    sizes = [2.0, 5.0, 20.0, 126.0]
    found = exponent(sizes, [factor * size**power for size in sizes])
    assert found.value == pytest.approx(power)
    assert found.ci_low == pytest.approx(power, abs=1e-3) and found.ci_high == pytest.approx(power, abs=1e-3)


def test_what_is_no_power_law_has_a_wide_interval() -> None:
    found = exponent([2, 5, 10, 100], [1.0, 1.0, 1.1, 9.0])
    assert found.ci_low is not None and found.ci_high is not None
    assert found.ci_low < 0.55 < found.value < found.ci_high


def test_two_lengths_give_no_interval_and_one_gives_nothing() -> None:
    assert exponent([2, 4], [1.0, 8.0]).value == pytest.approx(3)
    assert exponent([2, 4], [1.0, 8.0]).ci_low is None
    with pytest.raises(ValueError, match="two sizes"):
        exponent([2, 2], [1.0, 8.0])
