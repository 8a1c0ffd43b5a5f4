"""One progress display for every long step: what, how far, how fast, how long still.

A bar on a terminal, a line every few minutes in a log, nothing on a CI machine. Of stages side by side `make repro`
draws the bars: they tell it how far they are.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

Item = TypeVar("Item")


#: Seconds between the lines of a step that nobody watches.
EVERY = 300.0
#: The variable by which `make repro` asks a stage to say how far it is, and what such a line on stderr begins with.
PROGRESS, MARK = "QUARTET_PROGRESS", "\x01"
#: Seconds between such lines.
OFTEN = 0.2


def quiet() -> bool:
    """True where a moving bar would only fill a log, or others' lines come between: no terminal, a dumb one, or CI."""
    return on_ci() or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb"


def on_ci() -> bool:
    """Whether a CI machine runs this: its logs say how things end, not how they go."""
    return bool(os.environ.get("CI"))


def say(text: str) -> None:
    """One line on stderr for what a stage reads, how much, and where it goes."""
    print(text, file=sys.stderr, flush=True)


class _Rate(ProgressColumn):
    """Items a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="progress.data.speed")


class ProgressBar:
    """One line of the display; :meth:`set` and :meth:`advance` move it."""

    def __init__(self, progress: Progress, description: str, total: float | None) -> None:
        self._progress = progress
        self._task = progress.add_task(description, total=total)
        self._said = self._begun = time.monotonic()
        self._found: float | None = None  # done when the clock began: a resumed step does not begin at 0

    def set(self, done: float, total: float | None = None, note: str | None = None) -> None:
        """Say how far it is, and how far it will go where that became known; `note` replaces the description."""
        if self._found is None:
            self._found, self._begun = done, time.monotonic()
        self._progress.update(self._task, completed=done, total=total, description=note)
        self._log()

    def advance(self, by: float = 1) -> None:
        """Say that `by` more items are done."""
        self._progress.advance(self._task, by)
        self._log()

    def describe(self, note: str) -> None:
        """Replace the description."""
        self._progress.update(self._task, description=note)

    def _log(self) -> None:
        """A line where no bar is drawn, if the last one is long ago."""
        now = time.monotonic()
        drawn = PROGRESS in os.environ
        if (
            not self._progress.disable
            or (on_ci() and not drawn)
            or now - self._said < (OFTEN if drawn else EVERY)
        ):
            return
        self._said = now
        task = next(task for task in self._progress.tasks if task.id == self._task)
        if drawn:
            say(MARK + json.dumps([task.description, task.completed, task.total]))
            return
        here = task.completed - (self._found or 0.0)
        say(line(task.description, task.completed, task.total, here / (now - self._begun) if here else None))


def read_progress(text: str) -> tuple[str, float, float | None] | None:
    """The description, what is done and the total that a stage has told `make repro`; None for any other line."""
    if not text.startswith(MARK):
        return None
    description, done, total = json.loads(text.removeprefix(MARK))
    return description, done, total


def line(description: str, done: float, total: float | None, rate: float | None) -> str:
    """How far a step is, in words: ``tta: 500 of 2,000, 41.3/s, 0:00:36 left``.

    Args:
        rate: items a second, None where none was done yet.
    """
    so_far = f"{description}: {done:,.0f} of {total:,.0f}" if total else f"{description}: {done:,.0f}"
    if not rate:
        return so_far
    left = f", {timedelta(seconds=round((total - done) / rate))} left" if total else ""
    return f"{so_far}, {rate:,.1f}/s{left}"


@contextmanager
def bar(description: str, total: float | None = None) -> Iterator[ProgressBar]:
    """A progress bar on stderr for the block's time.

    >>> with bar("scoring", total=3) as shown:
    ...     for _ in range(3):
    ...         shown.advance()
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet(), transient=True) as progress:
        yield ProgressBar(progress, description, total)


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items, showing how many went by."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bar(description, total) as shown:
        for item in items:
            yield item
            shown.advance()
