"""Telling MLflow what a stage did: one run a stage instance, in sqlite:///mlflow.db or at MLFLOW_TRACKING_URI.

A run is tagged with the hash of its record (the rows or the manifest that the stage wrote), so that :func:`sync`
can tell which results no run stands for: those that DVC took from its cache without running anything.
"""

from __future__ import annotations

import os

# Before mlflow is imported anywhere in the process: nobody is told that it runs, and it prints neither advice nor the
# server's address, in which there may be a password.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"
os.environ["DO_NOT_TRACK"] = "true"
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

import csv
import logging
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pipeline.layout import MANIFEST, STAGES, Layout, instances, record
from pipeline.mlflow_store import Store, open_store
from pipeline.params import Params
from pipeline.progress import say
from pipeline.settings import SETTINGS
from pipeline.timing import Stopwatch, read_timings
from pipeline.tracked import models, repro
from pipeline.tracked.inputs import Input, in_words, inputs
from pipeline.tracked.names import MOST_VALUE, metric_name, numbers, run_name, run_tags, stage_params
from pipeline.tracked.summary import summarise
from quartet.errors import InputError
from quartet.files import read_json, sha256
from quartet.results import Result, read_results

__all__ = ["Run", "metric_name", "numbers", "stage_params", "stage_run", "sync"]


class Run:
    """An open run of one stage instance.

    Attributes:
        id: MLflow's id of the run; a training keeps it beside its resume point and passes it to :func:`stage_run`.
        stopwatch: for durations: they become metrics ``seconds/<name>``.
    """

    def __init__(self, store: Store, run_id: str, variant: str, stopwatch: Stopwatch) -> None:
        self.id = run_id
        self.stopwatch = stopwatch
        self._store = store
        self._variant = variant

    def log_metric(self, name: str, value: float, step: int = 0) -> None:
        """One point of a metric."""
        self.log_metrics({name: value}, step)

    def log_metrics(self, values: dict[str, float], step: int = 0) -> None:
        """Several metrics of one step, in one transaction."""
        assert all(map(math.isfinite, values.values())), f"no numbers in {values}"
        self._store.metrics(self.id, [(name, value, step) for name, value in values.items()])

    def log_results(self, rows: Iterable[Result]) -> None:
        """Every row as a metric ``<table>/<dataset>/<split>/<metric>``, its seed as the step."""
        self._store.metrics(
            self.id, [(metric_name(row, self._variant), row.value, row.seed or 0) for row in rows]
        )

    def log_manifest(self, manifest: dict[str, Any]) -> None:
        """Every number of a manifest as a metric, its name the path of keys."""
        self._store.metrics(self.id, [(name, value, 0) for name, value in numbers(manifest)])

    def log_artifact(self, path: str | Path, folder: str | None = None) -> None:
        """Attach a file, or a folder's files."""
        self._store.artifact(self.id, Path(path), folder)

    def set_tag(self, name: str, value: str) -> None:
        """Set one tag."""
        self._store.tags(self.id, {name: value})


class _Warnings(logging.Handler):
    """Prints what the library warns of; a metric that a warning comes with is logged."""

    def __init__(self, run: Run) -> None:
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        say(f"warning: {record.getMessage()}")
        if (metric := getattr(record, "metric", None)) is not None:
            self._run.log_metric(*metric)


@contextmanager
def stage_run(
    params: Params,
    stage: str,
    variant: str = "",
    *,
    run_id: str | None = None,
) -> Iterator[Run]:
    """A run for the time of the block, FINISHED or FAILED as the block ends.

    Its settings, those of the whole pipeline and the datasets that it read are logged before the block; its record,
    attached and hashed, its durations and the models that it trained after it. Where a ``dvc repro`` runs the stage,
    the run is a child of that one's run.

    Args:
        stage, variant: as in dvc.yaml: ``stage_run(params, "sts", "tta")`` for ``sts@tta``.
        run_id: a run to go on with, if it is there (an interrupted training).

    Raises:
        InputError: MLflow cannot be reached.
    """
    layout = Layout(params.experiment)
    store = open_store(params.experiment)
    repro.bury(store)
    parent = repro.parent(store, _common(params))
    stopwatch = Stopwatch(layout, stage, variant)
    name = run_name(stage, variant)
    tags = {**_tags(params, stage, variant, parent), "process": repro.own_process()}
    run = Run(store, _open_run(store, name, tags, run_id), variant, stopwatch)
    warned = _Warnings(run)
    logging.getLogger("quartet").addHandler(warned)
    started = time.perf_counter()
    try:
        read = inputs(params, layout, stage, variant)
        if read:
            say(f"{name} reads {in_words(read)}")
        _log_settings(store, run, params, stage, variant, read)
        yield run
        seconds = time.perf_counter() - started
        stopwatch.add("total", seconds)
        _log_seconds(run, stopwatch.rows)
        if stage in STAGES:
            path = record(params, stage, variant)
            stopwatch.belongs_to(sha256(path))
            _log_made(store, run, params, stage, variant, path)
            say(f"{name} took {seconds:.1f} s -> {path.parent if path.name == MANIFEST else path}")
    except BaseException as error:
        with suppress(InputError):  # where MLflow's disk is full too, the first error is the one to tell
            run.set_tag("error", f"{type(error).__name__}: {error}"[:MOST_VALUE])
            _close(store, (run.id, parent), "FAILED")
        raise
    finally:
        logging.getLogger("quartet").removeHandler(warned)
    _close(store, (run.id, parent), "FINISHED")


def sync(params: Params, rows: Sequence[Result] = ()) -> list[str]:
    """Log a run, tagged ``restored``, for every present result that no finished run stands for.

    Args:
        rows: every result: each system gets a run of its own with all of them, and the experiment a description.

    Returns:
        The names of the runs of stage instances that were missing.
    """
    layout = Layout(params.experiment)
    store = open_store(params.experiment)
    parent = repro.parent(store, _common(params))
    known = store.contents()
    restored = []
    for stage, variant in instances(params):
        path = record(params, stage, variant)
        name = run_name(stage, variant)
        if not path.is_file() or (name, sha256(path)) in known:
            continue
        tags = {**_tags(params, stage, variant, parent), "restored": "true"}
        run = Run(store, store.create(name, tags), variant, Stopwatch(layout, stage, variant))
        read = inputs(params, layout, stage, variant)
        _log_settings(store, run, params, stage, variant, read)
        if path.suffix == ".jsonl":
            run.log_results(read_results(path))
            if stage == "pretrain":
                _log_curve(run, layout.curve(variant))
        else:
            run.log_manifest(read_json(path))
        _log_seconds(run, read_timings(layout, stage, variant, sha256(path)))
        _log_made(store, run, params, stage, variant, path)
        store.end(run.id, "FINISHED")
        restored.append(name)
    if rows:
        summarise(store, params, rows, known, parent)
    _close(store, (parent,), "FINISHED")
    return restored


def _close(store: Store, runs: Iterable[str | None], status: str) -> None:
    for run_id in runs:
        if run_id is not None:
            store.end(run_id, status)


def _common(params: Params) -> dict[str, str]:
    """The tags that every run of the settings has."""
    every = run_tags(params, repro.STAGE, "")
    return {key: every[key] for key in ("preset", "commit", "mlflow.source.git.commit")} | {
        "mlflow.source.name": "dvc repro"
    }


def _tags(params: Params, stage: str, variant: str, parent: str | None) -> dict[str, str]:
    tags = run_tags(params, stage, variant)
    return tags if parent is None else {**tags, "mlflow.parentRunId": parent}


def _open_run(store: Store, name: str, tags: dict[str, str], run_id: str | None) -> str:
    """`run_id`, RUNNING again, if the experiment has it; else a new run's id."""
    if run_id is not None and store.has(run_id):
        store.resume(run_id, tags)
        return run_id
    return store.create(name, tags)


def _log_settings(
    store: Store, run: Run, params: Params, stage: str, variant: str, read: Sequence[Input]
) -> None:
    store.params(run.id, stage_params(params, stage, variant))
    run.log_artifact(SETTINGS)
    store.inputs(run.id, read)


def _log_made(store: Store, run: Run, params: Params, stage: str, variant: str, path: Path) -> None:
    """What a stage instance leaves: its record, and the model of each seed."""
    if stage == "pretrain":
        for seed in params.seeds:
            folder = Layout(params.experiment).model(variant, params, seed)
            if folder.is_dir():
                models.log_trained(store, run.id, params, variant, seed, folder)
    run.log_artifact(path)
    run.set_tag("content", sha256(path))


def _log_seconds(run: Run, rows: list[dict[str, Any]]) -> None:
    """The durations, and what was measured of how they were used."""
    found = {f"seconds/{row['name']}": float(row["seconds"]) for row in rows}
    for row in rows:
        found |= {
            f"{metric}/{row['name']}": float(value) for metric, value in row.get("measures", {}).items()
        }
    run.log_metrics(found)


def _log_curve(run: Run, path: Path) -> None:
    """The validation losses of a training, under the names that a live training gives them."""
    with open(path, newline="", encoding="utf-8") as file:
        for point in csv.DictReader(file):
            name = f"validation_loss/seed-{point['seed']}"
            run.log_metric(name, float(point["loss"]), int(point["step"]))
    run.log_artifact(path)
