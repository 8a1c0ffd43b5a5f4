"""How long things took: kept beside the artifacts, in no file that another stage depends on."""

from __future__ import annotations

import time
from typing import Any

from pipeline.layout import Layout
from pipeline.run import hardware
from quartet.files import read_json, read_jsonl, write_json, write_jsonl

#: The work of a stage instance, and what it costs beside: from the start of its process to that of its work; from its
#: work to the end of what MLflow is told at once; and DVC's time, from the end of the stage before to its process.
TOTAL, START_UP, TELLING, BETWEEN = "total", "start-up", "mlflow", "dvc"


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


def write_end(layout: Layout, of: str) -> None:
    """Leave the time at which a stage ended for the next one of the same ``dvc repro``.

    Args:
        of: which one it is: nothing is left where it is empty.
    """
    if of:
        write_json(layout.last_end, {"dvc": of, "ended": time.time()})


def seconds_between(layout: Layout, of: str, started: float) -> float | None:
    """From the end of the stage before to the start of this process; None where this is the first of its ``dvc repro``.

    Args:
        started: when this process was, in seconds since 1970.
    """
    if not of or not layout.last_end.is_file():
        return None
    last = read_json(layout.last_end)
    return max(0.0, started - last["ended"]) if last["dvc"] == of else None  # two clocks
