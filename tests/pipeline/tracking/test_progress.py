"""A bar on a terminal, lines in a log, nothing on a CI machine."""

from __future__ import annotations

import time

import pytest

from pipeline.tracking import progress
from pipeline.tracking.progress import bar, line, track


@pytest.fixture(autouse=True)
def _every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come at once, and nobody is a CI machine."""
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.delenv("CI", raising=False)


def test_a_log_gets_lines_with_rate_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("tta: steps", total=4) as shown:
        shown.set(1)
        shown.describe("tta: loss 5.1, steps")
        shown.set(3)
    first, last = capsys.readouterr().err.splitlines()
    assert first == "tta: steps: 1 of 4"  # of one point there is no rate
    assert last.startswith("tta: loss 5.1, steps: 3 of 4, ") and last.endswith(" left")


def test_what_was_done_before_is_no_part_of_the_rate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with bar("tta: steps", total=2001) as shown:
        shown.set(801)  # resumed at 800
        now = 50.0
        shown.set(901)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "tta: steps: 901 of 2,001, 2.0/s, 0:09:10 left"
    for _ in track(range(2), "items", total=2):
        now += 4.0
    assert capsys.readouterr().err.splitlines() == [
        "items: 1 of 2, 0.2/s, 0:00:04 left",
        "items: 2 of 2, 0.2/s, 0:00:00 left",
    ]


def test_a_ci_machine_gets_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert list(track(range(3), "items")) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_a_line_says_what_is_known() -> None:
    assert line("tta", 500, 2000, 50.0) == "tta: 500 of 2,000, 50.0/s, 0:00:30 left"
    assert line("documents", 1500, None, 150.0) == "documents: 1,500, 150.0/s"
    assert line("tta", 0, 10, None) == "tta: 0 of 10"
    assert line("documents", 0, None, None) == "documents: 0"


def test_lines_are_far_apart(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 1000.0)
    with bar("tta", total=10) as shown:
        for _ in range(10):
            shown.advance()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("variables", "terminal", "expected"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "xterm"}, False, True),
        ({"TERM": "dumb"}, True, True),
        ({"TERM": "xterm", "CI": "true"}, True, True),
    ],
)
def test_a_bar_moves_on_a_terminal_that_can_move_it(
    variables: dict[str, str], terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    assert progress.quiet() is expected


def test_a_stage_tells_make_repro_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which draws the bars of all stages, on CI too."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv(progress.PROGRESS, "1")
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    with progress.bar("steps: a, \u2014", total=3) as shown:
        shown.advance()
        shown.set(3.0, note="done")
    said = capsys.readouterr().err.splitlines()
    assert [progress.read_progress(one) for one in said] == [("steps: a, \u2014", 1, 3), ("done", 3.0, 3)]
    assert progress.read_progress("steps: 1 of 3") is None
