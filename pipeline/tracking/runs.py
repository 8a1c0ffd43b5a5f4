"""The runs of stage instances in MLflow: of those that take minutes while they run, of all others from the report.

A run is tagged with the hash of its record (the rows or the manifest that the stage wrote). The report looks which
present record no finished run has, with the same settings, and makes a run for each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import SETTINGS
from pipeline.stages import STAGES, instances, record, stage_named
from pipeline.tracking import models, repro
from pipeline.tracking.mlflow import ExperimentStore, open_store
from pipeline.tracking.run_fields import (
    MOST_VALUE,
    MetricPoint,
    curve_points,
    inputs,
    metric_name,
    numbers,
    run_name,
    run_tags,
    stage_params,
)
from pipeline.tracking.stage import read_timings, timings
from pipeline.tracking.summary import summarise
from quartet.errors import InputError
from quartet.files import atomic_path, read_json, sha256
from quartet.results import Result, read_results

#: In the folder of an interrupted training, the id of its run.
RUN_ID = "mlflow-run"


@dataclass(frozen=True)
class _LiveRun:
    """A run that MLflow sees from its start."""

    store: ExperimentStore
    id: str

    def metrics(self, points: list[MetricPoint]) -> None:
        self.store.metrics(self.id, points)

    def tags(self, tags: dict[str, str]) -> None:
        self.store.tags(self.id, tags)


@contextmanager
def live(params: Params, stage: str, variant: str, resume: Path | None) -> Iterator[_LiveRun]:
    """A run for the time of the block, FINISHED or FAILED as the block ends, then with all that the stage found.

    Its settings, those of the whole pipeline and the datasets that it read are logged at its start. Where a ``dvc
    repro`` runs the stage, the run is a child of that one's run.

    Args:
        resume: the folder in which the run's id is kept while the training is unfinished.

    Raises:
        InputError: MLflow cannot be reached.
    """
    store = open_store(params.experiment)
    repro.mark_killed_runs(store)
    parent = repro.parent(store, _common(params), repro.current_repro())
    settings = stage_params(params, stage, variant)
    tags = {**_tags(params, stage, variant, parent), "process": repro.own_process()}
    kept = None if resume is None else resume / RUN_ID
    run_id = _continued(store, kept, settings)
    if run_id is None:
        run_id = store.create(run_name(stage, variant), tags)
    else:
        store.resume(run_id, tags)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(kept) as temporary:
            temporary.write_text(run_id)
    try:
        _begin(store, run_id, params, stage, variant, settings)
        yield _LiveRun(store, run_id)
        _log(store, run_id, params, stage, variant, outcome_of(params, stage, variant))
    except BaseException as error:
        with suppress(InputError):  # where MLflow's disk is full too, the first error is the one to tell
            store.tags(run_id, {"error": _told(error)})
            store.end(run_id, "FAILED")
            _close(store, parent, "FAILED")
        raise
    store.end(run_id, "FINISHED")
    _close(store, parent, "FINISHED")
    if kept is not None:
        kept.unlink()


def tell(params: Params, rows: Sequence[Result] = ()) -> list[str]:
    """Make a run for every present result that no finished run stands for; bring back files that MLflow has lost.

    A run has the times at which the stage ran. Where these are not known, DVC has restored the result, and the run is
    tagged ``restored``.

    Args:
        rows: every result: each system gets a run of its own with all of them, and the experiment a description.

    Returns:
        The names of the runs of stage instances that were made.
    """
    store = open_store(params.experiment)
    parent = repro.parent(store, _common(params), repro.current_repro())
    known = defaultdict(list)
    for run in store.search("attributes.status = 'FINISHED'"):
        known[run.info.run_name, run.data.tags.get("content")].append(run)
    made = []
    for stage, variant in instances(params):
        path, name, settings = (
            record(params, stage, variant),
            run_name(stage, variant),
            stage_params(params, stage, variant),
        )
        if not path.is_file():
            continue
        left = outcome_of(params, stage, variant)
        same = [run for run in known[name, left.content] if run.data.params == settings]
        if same:
            run_id = same[0].info.run_id
            if not store.client.list_artifacts(run_id):
                _attach(store, run_id, left)
            _log_models(store, run_id, params, stage, variant)
            continue
        tags = _tags(params, stage, variant, parent)
        if left.started is None:
            tags["restored"] = "true"
        run_id = store.create(name, tags, left.started)
        _begin(store, run_id, params, stage, variant, settings)
        _log(store, run_id, params, stage, variant, left)
        store.end(run_id, "FINISHED", left.ended)
        made.append(name)
    if rows:
        summarise(store, params, rows, parent)
    _close(store, parent, "FINISHED")
    return made


def report_rows(params: Params) -> list[Result]:
    """The rows of the report, as its file has them; none before there is one."""
    path = Layout(params.experiment).results
    return read_results(path) if path.is_file() else []


def _continued(store: ExperimentStore, kept: Path | None, settings: dict[str, str]) -> str | None:
    """The run of an interrupted training that goes on; None for a new one: MLflow changes no setting of a run."""
    if kept is None or not kept.is_file():
        return None
    run_id = kept.read_text()
    found = store.search(f"attributes.run_id = '{run_id}'")
    return run_id if any(run.data.params == settings for run in found) else None


def _begin(
    store: ExperimentStore, run_id: str, params: Params, stage: str, variant: str, settings: dict[str, str]
) -> None:
    """What is known of a run at its start."""
    store.params(run_id, settings)
    if SETTINGS.is_file():
        store.artifact(run_id, SETTINGS, None)
    store.inputs(run_id, inputs(params, Layout(params.experiment), stage, variant))


def _log(
    store: ExperimentStore, run_id: str, params: Params, stage: str, variant: str, left: StageOutcome
) -> None:
    """What is known of a run at its end: points of a curve that it has are left out."""
    steps = {name: store.steps(run_id, name) for name in dict.fromkeys(name for name, *_ in left.curve)}
    store.metrics(run_id, [*left.points, *(point for point in left.curve if point[2] not in steps[point[0]])])
    _attach(store, run_id, left)
    _log_models(store, run_id, params, stage, variant)
    if left.tags:
        store.tags(run_id, left.tags)


def _attach(store: ExperimentStore, run_id: str, left: StageOutcome) -> None:
    for path, folder in left.files:
        store.artifact(run_id, path, folder)


def _log_models(store: ExperimentStore, run_id: str, params: Params, stage: str, variant: str) -> None:
    """The models that a run has trained."""
    if stage == "pretrain":
        for seed in params.seeds:
            folder_of_seed = Layout(params.experiment).model(variant, params, seed)
            if folder_of_seed.is_dir():
                models.log_trained(store, run_id, params, variant, seed, folder_of_seed)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MOST_VALUE]


def _close(store: ExperimentStore, parent: str | None, status: str) -> None:
    """Close the run of a ``dvc repro``; one in which a stage failed stays FAILED when others have ended."""
    if parent is not None and (status == "FAILED" or not store.failed(parent)):
        store.end(parent, status)


def _common(params: Params) -> dict[str, str]:
    """The tags that every run of the settings has."""
    every = run_tags(params, repro.STAGE, "")
    return {key: tag for key, tag in every.items() if key != "variant"} | {"mlflow.source.name": "dvc repro"}


def _tags(params: Params, stage: str, variant: str, parent: str | None) -> dict[str, str]:
    tags = run_tags(params, stage, variant)
    return tags if parent is None else {**tags, "mlflow.parentRunId": parent}


# ---------------------------------------------------------------------- what an instance left, whoever made it and when


@dataclass(frozen=True)
class StageOutcome:
    """What a stage instance found.

    Attributes:
        content: the sha256 of its record; empty for the report.
        points: of metrics.
        curve: of metrics that a live run reports while they are drawn.
        files: a path, and the folder among the run's files or None for their root.
        started, ended: in milliseconds since 1970; None where it is not known, as of what DVC restored.
    """

    content: str
    points: list[MetricPoint]
    curve: list[MetricPoint]
    files: list[tuple[Path, str | None]]
    tags: dict[str, str]
    started: int | None
    ended: int | None


def outcome_of(params: Params, stage: str, variant: str) -> StageOutcome:
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
    return StageOutcome(
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


def row_points(rows: Iterable[Result], variant: str) -> list[MetricPoint]:
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
