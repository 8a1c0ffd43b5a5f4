"""The nine sets of GLUE: what is wrong with a file of any of them, in its own columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quartet.tasks.glue.data import TASKS, GlueTask
from tests.reliability.malformed.case import Case, as_jsonl, without
from tests.reliability.malformed.rows import reader


def cases() -> Iterator[Case]:
    for name, task in TASKS.items():
        for what, (file, data, says) in _of_task(task).items():
            yield Case(f"glue/{name}", what, {file: data}, reader(f"glue/{name}", file), says)


def valid_row(task: GlueTask) -> dict[str, str]:
    """A row of GLUE's own table."""
    texts = dict.fromkeys(task.tsv, "A man sings.")
    return {task.index: "0", **texts, task.gold: task.labels[0] if task.labels else "4.5"}


def as_table(*rows: dict[str, str]) -> bytes:
    """Rows below the line of their columns."""
    lines = [rows[0], *(row.values() for row in rows)]
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def _of_task(task: GlueTask) -> dict[str, tuple[str, bytes, str]]:
    """What is wrong with a file of any task, in its own columns."""
    row = valid_row(task)
    first = task.tsv[0]
    hub: dict[str, Any] = {**dict.fromkeys(task.hub, "A man sings."), "label": 0, "idx": 0}
    wrong = "maybe"
    found: dict[str, tuple[str, bytes, str]] = {
        "no text's column": ("dev.tsv", as_table(without(row, first)), rf"no column .*{first[:3]}"),
        "an unknown label": (
            "dev.tsv",
            as_table({**row, task.gold: wrong}),
            "'maybe' is no label|\"maybe\" is not a",
        ),
        "an empty label": (
            "dev.tsv",
            as_table({**row, task.gold: ""}),
            "'' is no label|\"\" is not a number",
        ),
        "empty": ("dev.tsv", b"", "dev.tsv: is empty"),
        "a header alone": ("dev.tsv", as_table(row).split(b"\n")[0] + b"\n", "dev.tsv: holds no examples"),
        "an index twice": (
            "test.tsv",
            as_table(*[without(row, task.gold)] * 2),
            "the index 0 is there already",
        ),
        "no index": (
            "test.tsv",
            as_table(without(without(row, task.gold), task.index)),
            "None is no index",
        ),
        "a label that is missing": ("dev.jsonl", as_jsonl(without(hub, "label")), "no column label"),
        "a text that is null": (
            "dev.jsonl",
            as_jsonl({**hub, task.hub[0]: None}),
            "NoneType, a text was expected",
        ),
        "a number beyond the labels": (
            "dev.jsonl",
            as_jsonl({**hub, "label": 9}),
            "9 is no label|score 9 is not within",
        ),
        "labels in part": (
            "dev.jsonl",
            as_jsonl(hub, {**hub, "label": -1}),
            "dev.jsonl:2: has no label, unlike",
        ),
    }
    if not task.broken:
        found["an empty text"] = ("dev.tsv", as_table({**row, first: " "}), "is empty")
        found["a cell too few"] = (
            "dev.tsv",
            as_table(row) + b"a\tb\n",
            "dev.tsv:3: 2 columns, the first line has",
        )
    return found
