"""What `make repro` shows of the stages that run side by side.

On a terminal each running stage has a line with its progress, below what all have said. Elsewhere there are only lines:
which stage begins, and what it says.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from pipeline.tracking.progress import PROGRESS, quiet, read_progress, say

#: What DVC warns of where there is nothing of a kind, as no pair to combine: nothing is wrong.
EMPTY = re.compile(r".*WARNING.*: '.+' is empty\.")
#: Seconds in which what a stage has said is read to its end, once the stage has ended.
PATIENCE = 5.0


class Display:
    """A block's display of stages, each in a thread of its own.

    Args:
        total: how many stages will run.
    """

    def __init__(self, total: int) -> None:
        name = TextColumn(
            "{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
        )
        self._total, self._begun = total, 0
        self._progress = Progress(
            *(name, BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn()),
            console=Console(stderr=True),
            disable=quiet(),
            transient=True,
            expand=True,
        )
        self._all = self._progress.add_task("stages", total=total)

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    @property
    def variables(self) -> dict[str, str]:
        """Of a stage's environment: it says how far it is where that is shown."""
        return {} if self._progress.disable else {PROGRESS: "1"}

    def begin(self, name: str) -> None:
        """Say that a stage will be the next."""
        self._begun += 1
        if self._progress.disable:
            say(f"[{self._begun} of {self._total}] {name}")

    @contextmanager
    def stage(self, name: str) -> Iterator[TextIO]:
        """Show a stage for the block's time; yields the stderr that it is to have."""
        reading, writing = os.pipe()
        task = self._progress.add_task(name, total=None)
        reader = threading.Thread(target=self._read, args=(reading, name, task), daemon=True)
        reader.start()
        try:
            with open(writing, "w", encoding="utf-8") as said:
                yield said
        finally:
            reader.join(PATIENCE)
            self._progress.remove_task(task)
            self._progress.advance(self._all)

    def _read(self, reading: int, name: str, task: TaskID) -> None:
        with open(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                text = line.rstrip("\n")
                if (progress := read_progress(text)) is not None:
                    note, done, total = progress
                    self._progress.update(task, description=f"{name}  {note}", completed=done, total=total)
                elif not EMPTY.fullmatch(text):
                    self._say(text)

    def _say(self, text: str) -> None:
        if self._progress.disable:
            say(text)
        else:
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)
