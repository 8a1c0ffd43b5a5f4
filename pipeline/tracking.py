"""Telling MLflow what a stage did: one run a stage instance, in sqlite:///mlflow.db or at MLFLOW_TRACKING_URI.

A run is tagged with the hash of its record (the rows or the manifest that the stage wrote), so that :func:`sync`
can tell which results no run stands for: those that DVC took from its cache without running anything.
"""

from __future__ import annotations

import os

# Before mlflow is imported anywhere in the process: nobody is told that it runs, and it prints no advice.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["DO_NOT_TRACK"] = "true"
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

import csv
import json
import logging
import math
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pipeline.layout import STAGES, Layout, instances, record
from pipeline.mlflow_store import Store
from pipeline.params import Params
from pipeline.progress import say
from pipeline.timing import Stopwatch, read_timings
from quartet.errors import InputError
from quartet.files import read_json, sha256
from quartet.results import Result, read_results

MOST_KEY, MOST_VALUE = 250, 5000
#: What is logged with the report, which is no entry of STAGES: it leaves no record for others.
REPORT_PARAMS = ("experiment", "seeds", "bootstrap", "evaluate")


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
    params_file: str = "params.yaml",
) -> Iterator[Run]:
    """A run for the time of the block, FINISHED or FAILED as the block ends; its record is attached and hashed.

    Args:
        stage, variant: as in dvc.yaml: ``stage_run(params, "sts", "tta")`` for ``sts@tta``.
        run_id: a run to go on with, if it is there (an interrupted training).

    Raises:
        InputError: MLflow cannot be reached.
    """
    layout = Layout(params.experiment)
    store = Store(params.experiment)
    stopwatch = Stopwatch(layout, stage, variant)
    run = Run(
        store, store.start(_name(stage, variant), _tags(params, stage, variant), run_id), variant, stopwatch
    )
    warned = _Warnings(run)
    logging.getLogger("quartet").addHandler(warned)
    started = time.perf_counter()
    try:
        store.params(run.id, stage_params(params, stage, variant))
        run.log_artifact(params_file)
        yield run
        stopwatch.add("total", time.perf_counter() - started)
        _log_seconds(run, stopwatch.rows)
        if stage in STAGES:
            path = record(params, stage, variant)
            stopwatch.belongs_to(sha256(path))
            _log_record(run, path)
    except BaseException as error:
        with suppress(InputError):  # where MLflow's disk is full too, the first error is the one to tell
            run.set_tag("error", f"{type(error).__name__}: {error}"[:MOST_VALUE])
            store.end(run.id, "FAILED")
        raise
    finally:
        logging.getLogger("quartet").removeHandler(warned)
    store.end(run.id, "FINISHED")


def sync(params: Params, params_file: str = "params.yaml") -> list[str]:
    """Log a run, tagged ``restored``, for every present result that no finished run stands for.

    Returns:
        The names of the runs that were missing.
    """
    layout = Layout(params.experiment)
    store = Store(params.experiment)
    known = store.contents()
    restored = []
    for stage, variant in instances(params):
        path = record(params, stage, variant)
        name = _name(stage, variant)
        if not path.is_file() or (name, sha256(path)) in known:
            continue
        tags = {**_tags(params, stage, variant), "restored": "true"}
        run = Run(store, store.start(name, tags), variant, Stopwatch(layout, stage, variant))
        store.params(run.id, stage_params(params, stage, variant))
        run.log_artifact(params_file)
        if path.suffix == ".jsonl":
            run.log_results(read_results(path))
            if stage == "pretrain":
                _log_curve(run, layout.curve(variant))
        else:
            run.log_manifest(read_json(path))
        _log_seconds(run, read_timings(layout, stage, variant, sha256(path)))
        _log_record(run, path)
        store.end(run.id, "FINISHED")
        restored.append(name)
    return restored


def metric_name(row: Result, variant: str) -> str:
    """The name of a row's metric; the run's own model is left out, so that runs of models share their names.

    ``rerank/sample-speech/test/wer`` for tta in the run of tta, ``…/wer/context`` for tta/context,
    ``…/wer/first-pass`` for a baseline.
    """
    system = (
        "" if row.system == variant else row.system.removeprefix(f"{variant}/") if variant else row.system
    )
    return "/".join(part for part in (row.table, row.dataset, row.split, row.metric, system) if part)


def stage_params(params: Params, stage: str, variant: str) -> dict[str, str]:
    """The settings of one stage instance, flat, within MLflow's lengths."""
    flat: dict[str, str] = {}
    for key in STAGES[stage].params if stage in STAGES else REPORT_PARAMS:
        value: Any = params
        for part in key.split("."):
            name = variant if part == "{}" else part
            value = value[name] if isinstance(value, dict) else getattr(value, name)
        flat.update(_flat(key.replace("{}", variant), _plain(value)))
    return flat


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda each: each.__dict__))


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    else:
        yield key[:MOST_KEY], (value if isinstance(value, str) else json.dumps(value))[:MOST_VALUE]


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number in nested mappings with the path of its keys; texts and lists are left out."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, f"{path}/{name}" if path else str(name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def _name(stage: str, variant: str) -> str:
    return f"{stage}/{variant}" if variant else stage


def _tags(params: Params, stage: str, variant: str) -> dict[str, str]:
    tags = {"stage": stage, "variant": variant, "experiment": params.experiment, "commit": _commit()}
    model = params.models.get(variant)
    if model is not None and stage not in ("download", "segment", "tokenizer", "encode", "tasks", "nbest"):
        tags |= {"objective": model.objective, "positions": ", ".join(model.positions), "model": variant}
    return tags


def _commit() -> str:
    """The commit of the working tree, with + where tracked files differ from it; "unknown" outside git."""
    try:
        commit = _git("rev-parse", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


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


def _log_record(run: Run, path: Path) -> None:
    run.log_artifact(path)
    run.set_tag("content", sha256(path))
