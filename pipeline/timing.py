"""How long things took: kept beside the artifacts, in no file that another stage depends on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipeline.layout import Layout
from quartet.files import read_jsonl, write_jsonl


class Stopwatch:
    """The durations of one stage instance; its file is rewritten with each new one.

    Attributes:
        rows: ``{"name", "seconds", …}`` in the order in which they ended.
    """

    def __init__(self, layout: Layout, stage: str, variant: str = "") -> None:
        self._path = layout.timing(stage, variant)
        self.rows: list[dict[str, Any]] = []

    def add(self, name: str, seconds: float, **facts: Any) -> None:
        """Note that `name` took so many seconds; `facts` are numbers that go with it, e.g. ``steps=600``."""
        self.rows.append({"name": name, "seconds": round(seconds, 4), **facts})
        write_jsonl(self._path, self.rows)

    @contextmanager
    def timed(self, name: str, **facts: Any) -> Iterator[None]:
        """Time the block, if it ends well."""
        start = time.perf_counter()
        yield
        self.add(name, time.perf_counter() - start, **facts)


def read_timings(layout: Layout, stage: str, variant: str = "") -> list[dict[str, Any]]:
    """What the last run of a stage instance noted; empty where nothing is known (an output restored by DVC)."""
    path = layout.timing(stage, variant)
    return [row for _, row in read_jsonl(path)] if path.is_file() else []
