"""What MLflow is told of a stage instance that ended: read from its outputs and its timing file.

So it makes no difference whether the stage has just run, has run long before the report, or was restored by DVC.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.layout import MANIFEST, REPORT, STAGES, TOKENIZER, Layout, record
from pipeline.params import Params
from pipeline.results import timings
from pipeline.stage import Point
from pipeline.timing import read_timings
from pipeline.tracked.names import metric_name, numbers
from quartet.files import read_json, sha256
from quartet.results import Result, read_results

#: By stage, what of an instance's outputs MLflow keeps beside the record, and below which folder of the run's files.
FILES: dict[str, Callable[[Layout, str], Mapping[Path, str | None]]] = {
    "tokenizer": lambda layout, name: {layout.tokenizer(name) / TOKENIZER: None},
    "translate": lambda layout, name: {
        layout.translator_curve(name): None,
        layout.translations(name) / MANIFEST: None,
    },
    "nbest": lambda layout, name: {
        layout.nbest(name) / "refused.jsonl": None,
        layout.nbest(name) / "missing.jsonl": None,
    },
    "pretrain": lambda layout, name: {layout.curve(name): None},
    "rerank": lambda layout, name: {layout.wer_curve(name): None},
    "glue": lambda layout, name: {layout.glue(name): "glue"},
    "squad": lambda layout, name: {layout.predictions("squad", name): "squad"},
    "race": lambda layout, name: {layout.predictions("race", name): "race"},
    "attention": lambda layout, name: {layout.attention(name): None},
    "report": lambda layout, _: {layout.report / name: None for name in (*REPORT, layout.times.name)},
}
#: By stage, a manifest beside the rows.
MANIFESTS: dict[str, Callable[[Layout, str], Path]] = {
    "translate": lambda layout, name: layout.translations(name) / MANIFEST,
    "ngram": lambda layout, name: layout.ngram(name) / MANIFEST,
    "vectors": lambda layout, name: layout.vectors(name) / MANIFEST,
}
#: By stage, the curve of its training.
CURVES: dict[str, Callable[[Layout, str], Path]] = {
    "pretrain": lambda layout, name: layout.curve(name),
    "translate": lambda layout, name: layout.translator_curve(name),
}
#: By stage, a text of its manifest that is a tag: its key -> the tag.
TAGGED = {"segment": ("segmenter", "segmenter"), "ngram": ("made_by", "estimator")}


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
    beside = [MANIFESTS[stage](layout, variant)] if stage in MANIFESTS else []
    manifests = [each for each in beside if each.is_file()]
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
        key, tag = TAGGED.get(stage, ("", ""))
        if key in manifest:
            tags[tag] = str(manifest[key])
    if stage == "catalogue":
        points += _entries(layout)
    took = read_timings(layout, stage, variant, content)
    points += [(name, value, 0) for name, value in seconds(took).items()]
    total = next((row for row in took if row["name"] == "total"), None)
    started = None if total is None else total.get("started")
    files = FILES[stage](layout, variant) if stage in FILES else {}
    return Found(
        content=content,
        points=points,
        curve=curve_points(CURVES[stage](layout, variant)) if stage in CURVES else [],
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


def _entries(layout: Layout) -> list[Point]:
    """How many names each catalogue has."""
    paths = [*layout.artifacts.glob("*/catalogue.json"), *layout.artifacts.glob("tasks/*/catalogue.json")]
    return [(f"entries/{path.parent.name}", float(len(read_json(path))), 0) for path in paths]
