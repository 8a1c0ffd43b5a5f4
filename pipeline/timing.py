"""How long things took: kept beside the artifacts, in no file that another stage depends on."""

from __future__ import annotations

from typing import Any

from pipeline.layout import Layout
from pipeline.run import hardware
from quartet.files import read_jsonl, write_jsonl


class Stopwatch:
    """The durations of one stage instance; its file is rewritten with each new one.

    Attributes:
        rows: ``{"name", "seconds", "device", …}`` in the order in which they ended.
    """

    def __init__(self, layout: Layout, stage: str, variant: str = "") -> None:
        self._path = layout.timing(stage, variant)
        self._content = ""
        self.rows: list[dict[str, Any]] = []

    def add(self, name: str, seconds: float, **facts: Any) -> None:
        """Note that `name` took so many seconds on what this process computes with.

        Args:
            facts: what goes with it, e.g. ``steps=600``; ``device=…`` where an earlier process did it.
        """
        self.rows.append({"name": name, "seconds": round(seconds, 4), "device": hardware(), **facts})
        self._write()

    def belongs_to(self, content: str) -> None:
        """Say of which record, by its sha256, these are the durations."""
        self._content = content
        self._write()

    def _write(self) -> None:
        write_jsonl(self._path, ({**row, "content": self._content} for row in self.rows))


def read_timings(layout: Layout, stage: str, variant: str, content: str) -> list[dict[str, Any]]:
    """What the run noted that made the record with this sha256; empty where that is not known.

    DVC may have restored the record from its cache, after another run left its durations here.
    """
    path = layout.timing(stage, variant)
    rows = [row for _, row in read_jsonl(path)] if path.is_file() else []
    return [row for row in rows if row["content"] == content]
