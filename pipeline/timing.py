"""How long things took: kept beside the artifacts, in no file that another stage depends on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pipeline.layout import Layout
from pipeline.run import hardware
from quartet.files import read_jsonl, write_jsonl

#: The durations that every stage instance has: from its process' start to that of its work, and of the work.
START_UP, TOTAL = "start-up", "total"
#: What :func:`between` finds.
BETWEEN = "between"

Instance = tuple[str, str]
"""A stage and its variant."""


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


def between(kept: Mapping[Instance, Mapping[str, Mapping[str, Any]]]) -> dict[Instance, float]:
    """By stage instance, the seconds from the end of its work to the start of the next process.

    They are DVC's, which hashes what was made and writes dvc.lock, and the process' own: a training logs its models.

    Args:
        kept: by instance, its rows by their names: both `START_UP` and `TOTAL` are there.

    Returns:
        nothing for an instance after which the same ``dvc repro`` started none.
    """
    found = {}
    ran = sorted((rows[TOTAL]["started"], instance) for instance, rows in kept.items())
    for (started, instance), (following, other) in pairwise(ran):
        total, begun = kept[instance][TOTAL], kept[other]
        if total["dvc"] and total["dvc"] == begun[TOTAL]["dvc"]:
            gap = following - begun[START_UP]["seconds"] - started - total["seconds"]
            found[instance] = max(0.0, round(gap, 4))  # two clocks
    return found
