"""What MLflow is told of a stage instance that ended: read from its outputs and its timing file.

So it makes no difference whether the stage has just run, has run long before the report, or was restored by DVC.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.results import timings
from pipeline.stage import Point
from pipeline.stages import STAGES, record, stage_named
from pipeline.timing import read_timings
from pipeline.tracked.names import metric_name, numbers
from quartet.files import read_json, sha256
from quartet.results import Result, read_results


@dataclass(frozen=True)
class Found:
    """What a stage instance found.

    Attributes:
        content: the sha256 of its record; empty for the report.
        points: of metrics.
        curve: of metrics that a live run reports while they are drawn.
        files: a path, and the folder among the run's files or None for their root.
        started, ended: in milliseconds since 1970; None where it is not known, as of what DVC restored.
    """

    content: str
    points: list[Point]
    curve: list[Point]
    files: list[tuple[Path, str | None]]
    tags: dict[str, str]
    started: int | None
    ended: int | None


def found(params: Params, stage: str, variant: str) -> Found:
    """Read what the instance left; its record is there."""
    layout = Layout(params.experiment)
    path = record(params, stage, variant) if stage in STAGES else layout.results
    content = sha256(path) if stage in STAGES else ""
    known = stage_named(stage)
    beside = known.manifest and known.manifest(layout, params, variant)
    manifests = [beside] if beside and beside.is_file() else []
    rows = read_results(path) if path.suffix == ".jsonl" and path.is_file() else []
    if stage == "runtime":  # its record says what was timed, not how fast
        rows = timings(layout)
    elif path.suffix == ".json":
        manifests.append(path)
    points = row_points(rows, variant)
    tags = {"content": content} if content else {}
    for each in manifests:
        manifest = read_json(each)
        points += [(name, value, 0) for name, value in numbers(manifest)]
        if known.tag is not None and known.tag[0] in manifest:
            tags[known.tag[1]] = str(manifest[known.tag[0]])
    took = read_timings(layout, stage, variant, content)
    points += [(name, value, 0) for name, value in seconds(took).items()]
    total = next((row for row in took if row["name"] == "total"), None)
    started = None if total is None else total.get("started")
    files = known.files(layout, variant) if known.files else {}
    return Found(
        content=content,
        points=points,
        curve=curve_points(known.curve(layout, params, variant)) if known.curve else [],
        files=[
            (each, folder)
            for each, folder in {**({path: None} if stage in STAGES else {}), **files}.items()
            if each.exists()
        ],
        tags=tags,
        started=None if started is None else round(1000 * started),
        ended=None if started is None or total is None else round(1000 * (started + total["seconds"])),
    )


def row_points(rows: Iterable[Result], variant: str) -> list[Point]:
    """Every row as a metric ``<table>/<dataset>/<split>/<metric>``, its seed as the step."""
    return [(metric_name(row, variant), row.value, row.seed or 0) for row in rows]


def seconds(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The durations, and what was measured of how they were used."""
    every: dict[str, float] = {}
    for row in rows:
        every[f"seconds/{row['name']}"] = float(row["seconds"])
        every |= {
            f"{metric}/{row['name']}": float(value) for metric, value in row.get("measures", {}).items()
        }
    return every


def curve_points(path: Path) -> list[Point]:
    """The validation losses of a training, a metric a seed, as a live training reports them; none without the file."""
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [
            (f"validation_loss/seed-{point['seed']}", float(point["loss"]), int(point["step"]))
            for point in csv.DictReader(file)
        ]
