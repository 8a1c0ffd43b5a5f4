"""Durations are kept apart from results."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.timing import Stopwatch, read_timings


def test_durations_are_kept_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    layout = Layout("tiny", tmp_path)
    watch = Stopwatch(layout, "sts", "tta")
    with watch.timed("lee", texts=50):
        pass
    watch.add("total", 2.0)
    rows = read_timings(layout, "sts", "tta")
    assert [row["name"] for row in rows] == ["lee", "total"]
    assert rows[0]["texts"] == 50
    assert 0 <= rows[0]["seconds"] < 1
    assert rows[1]["seconds"] == 2.0


def test_a_new_run_forgets_the_old_one_and_a_failure_is_no_duration(tmp_path: Path) -> None:
    layout = Layout("tiny", tmp_path)
    Stopwatch(layout, "baselines").add("total", 9.0)
    watch = Stopwatch(layout, "baselines")
    watch.add("first", 1.0)
    with pytest.raises(RuntimeError), watch.timed("broken"):
        raise RuntimeError
    assert [row["name"] for row in read_timings(layout, "baselines")] == ["first"]


def test_nothing_is_known_of_what_never_ran(tmp_path: Path) -> None:
    assert read_timings(Layout("tiny", tmp_path), "sts", "tta") == []
