"""One progress display for every long step: what, how far, how fast, how long still; silent where nobody looks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
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


def quiet() -> bool:
    """True where a moving bar would only fill a log: no terminal, or a CI machine."""
    return bool(os.environ.get("CI")) or not sys.stderr.isatty()


def say(text: str) -> None:
    """One line on stderr for what a stage reads, how much, and where it goes."""
    print(text, file=sys.stderr, flush=True)


class _Rate(ProgressColumn):
    """Items a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="progress.data.speed")


class Bar:
    """One line of the display; :meth:`set` and :meth:`advance` move it."""

    def __init__(self, progress: Progress, description: str, total: float | None) -> None:
        self._progress = progress
        self._task = progress.add_task(description, total=total)

    def set(self, done: float, total: float | None = None, note: str | None = None) -> None:
        """Say how far it is, and how far it will go where that became known; `note` replaces the description."""
        self._progress.update(self._task, completed=done, total=total, description=note)

    def advance(self, by: float = 1) -> None:
        """Say that `by` more items are done."""
        self._progress.advance(self._task, by)


@contextmanager
def bar(description: str, total: float | None = None) -> Iterator[Bar]:
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
        yield Bar(progress, description, total)


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items, showing how many went by."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bar(description, total) as shown:
        for item in items:
            yield item
            shown.advance()
