"""Telling MLflow what a stage did: one run a stage instance, in sqlite:///mlflow.db or at MLFLOW_TRACKING_URI.

Stages that take minutes (`LIVE`) have a run while they work. To open MLflow takes seconds, so the others, many and
quick, leave a note of theirs on the disk, and whichever stage opens MLflow next makes the runs of all notes: the report
at the latest.

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

import logging
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pipeline.layout import MANIFEST, STAGES, Layout, instances, record
from pipeline.mlflow_store import Store, open_store
from pipeline.params import Params
from pipeline.progress import say
from pipeline.results import timings
from pipeline.settings import SETTINGS
from pipeline.timing import Stopwatch, read_timings
from pipeline.tracked import models, repro
from pipeline.tracked.inputs import Input, in_words, inputs
from pipeline.tracked.names import MOST_VALUE, metric_name, numbers, run_name, run_tags, stage_params
from pipeline.tracked.summary import curve_points, summarise
from quartet.errors import InputError
from quartet.files import read_json, sha256, write_json
from quartet.results import Result, read_results

__all__ = ["Run", "metric_name", "numbers", "stage_params", "stage_run", "sync"]


#: Stages whose runs are seen in MLflow while they go on: what trains, or listens, for minutes; and the report, which
#: opens MLflow anyway.
LIVE = frozenset({"translate", "recognise", "pretrain", "glue", "nli", "squad", "race", "report"})

Point = tuple[str, float, int]
"""A metric's name, its value and its step."""


class _Sink(Protocol):
    """Where what a run tells goes."""

    def metrics(self, points: list[Point]) -> None: ...

    def artifact(self, path: Path, folder: str | None) -> None: ...

    def tags(self, tags: dict[str, str]) -> None: ...


class Run:
    """The run of one stage instance.

    Attributes:
        id: MLflow's id of a live run, empty for others; a training keeps it beside its resume point and passes it to
            :func:`stage_run`.
        stopwatch: for durations: they become metrics ``seconds/<name>``.
    """

    def __init__(self, sink: _Sink, run_id: str, variant: str, stopwatch: Stopwatch) -> None:
        self.id = run_id
        self.stopwatch = stopwatch
        self._sink = sink
        self._variant = variant

    def log_metric(self, name: str, value: float, step: int = 0) -> None:
        """One point of a metric."""
        self.log_metrics({name: value}, step)

    def log_metrics(self, values: dict[str, float], step: int = 0) -> None:
        """Several metrics of one step, in one transaction."""
        assert all(map(math.isfinite, values.values())), f"no numbers in {values}"
        self._sink.metrics([(name, value, step) for name, value in values.items()])

    def log_results(self, rows: Iterable[Result]) -> None:
        """Every row as a metric ``<table>/<dataset>/<split>/<metric>``, its seed as the step."""
        self._sink.metrics([(metric_name(row, self._variant), row.value, row.seed or 0) for row in rows])

    def log_manifest(self, manifest: dict[str, Any]) -> None:
        """Every number of a manifest as a metric, its name the path of keys."""
        self._sink.metrics([(name, value, 0) for name, value in numbers(manifest)])

    def log_artifact(self, path: str | Path, folder: str | None = None) -> None:
        """Attach a file, or a folder's files."""
        self._sink.artifact(Path(path), folder)

    def set_tag(self, name: str, value: str) -> None:
        """Set one tag."""
        self._sink.tags({name: value})


@dataclass(frozen=True)
class _Live:
    """Tells MLflow at once."""

    store: Store
    run_id: str

    def metrics(self, points: list[Point]) -> None:
        self.store.metrics(self.run_id, points)

    def artifact(self, path: Path, folder: str | None) -> None:
        self.store.artifact(self.run_id, path, folder)

    def tags(self, tags: dict[str, str]) -> None:
        self.store.tags(self.run_id, tags)


@dataclass(kw_only=True)
class Note:
    """All that MLflow is to be told of one run of a stage instance.

    Attributes:
        name, own_tags, params: of the run.
        settings: the file of settings that goes with it, and its sha256: it is attached while it is still the same.
        read: the datasets.
        points: of metrics.
        attached: a path, and the folder among the run's files or None.
        of: the ``dvc repro`` that ran it.
        started, ended: in milliseconds since 1970; 0: now.
    """

    name: str
    own_tags: dict[str, str]
    params: dict[str, str]
    settings: tuple[str, str]
    read: list[Input]
    points: list[Point] = field(default_factory=list)
    attached: list[tuple[str, str | None]] = field(default_factory=list)
    of: repro.Repro | None = None
    started: int = 0
    ended: int = 0

    def metrics(self, points: list[Point]) -> None:
        self.points += points

    def artifact(self, path: Path, folder: str | None) -> None:
        self.attached.append((str(path), folder))

    def tags(self, tags: dict[str, str]) -> None:
        self.own_tags |= tags

    def write(self, path: Path) -> None:
        """Leave it for whichever stage opens MLflow next; an older one of the same instance has been told by then."""
        plain = asdict(self)
        for each in plain["read"]:
            each["folder"] = str(each["folder"])
        write_json(path, plain)

    @classmethod
    def load(cls, path: Path) -> Note:
        plain = read_json(path)
        plain["settings"] = tuple(plain["settings"])
        plain["read"] = [Input(**{**each, "folder": Path(each["folder"])}) for each in plain["read"]]
        plain["of"] = plain["of"] and repro.Repro(**plain["of"])
        return cls(**plain)

    def tell(self, store: Store, parent: str | None, status: str) -> str:
        """Make the run; returns its id."""
        own = self.own_tags if parent is None else {**self.own_tags, "mlflow.parentRunId": parent}
        run_id = store.create(self.name, own, self.started or None)
        store.params(run_id, self.params)
        store.inputs(run_id, self.read)
        store.metrics(run_id, self.points)
        file, digest = self.settings
        attached = [*self.attached, *([(file, None)] if digest == _digest(Path(file)) else [])]
        for path, folder in attached:
            if Path(path).exists():
                store.artifact(run_id, Path(path), folder)
        store.end(run_id, status, self.ended or None)
        return run_id


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

    Its settings, those of the whole pipeline and the datasets that it read are logged with it; its record,
    attached and hashed, its durations and the models that it trained after it. Where a ``dvc repro`` runs the stage,
    the run is a child of that one's run.

    Args:
        stage, variant: as in dvc.yaml: ``stage_run(params, "sts", "tta")`` for ``sts@tta``.
        run_id: a run to go on with, if it is there (an interrupted training).

    Raises:
        InputError: MLflow cannot be reached.
    """
    open_run = _live if stage in LIVE else _noted
    with open_run(params, stage, variant, run_id) as run:
        warned = _Warnings(run)
        logging.getLogger("quartet").addHandler(warned)
        started = time.perf_counter()
        try:
            yield run
            seconds = time.perf_counter() - started
            run.stopwatch.add("total", seconds)
            run.log_metrics(_seconds(run.stopwatch.rows))
            if stage in STAGES:
                path = record(params, stage, variant)
                run.stopwatch.belongs_to(sha256(path))
                run.log_artifact(path)
                run.set_tag("content", sha256(path))
                say(
                    f"{run_name(stage, variant)} took {seconds:.1f} s -> "
                    f"{path.parent if path.name == MANIFEST else path}"
                )
        finally:
            logging.getLogger("quartet").removeHandler(warned)


@contextmanager
def _live(params: Params, stage: str, variant: str, run_id: str | None) -> Iterator[Run]:
    """A run that MLflow sees from its start."""
    layout = Layout(params.experiment)
    store = open_store(params.experiment)
    repro.bury(store)
    tell_noted(store, params)
    parent = repro.parent(store, _common(params), repro.current())
    tags = {**_tags(params, stage, variant, parent), "process": repro.own_process()}
    opened = _open_run(store, run_name(stage, variant), tags, run_id)
    try:
        read = _reads(params, layout, stage, variant)
        store.params(opened, stage_params(params, stage, variant))
        store.artifact(opened, SETTINGS, None)
        store.inputs(opened, read)
        yield Run(_Live(store, opened), opened, variant, Stopwatch(layout, stage, variant))
        if stage in STAGES:
            _log_models(store, opened, params, stage, variant)
    except BaseException as error:
        with suppress(InputError):  # where MLflow's disk is full too, the first error is the one to tell
            store.tags(opened, {"error": _told(error)})
            _close(store, (opened, parent), "FAILED")
        raise
    _close(store, (opened, parent), "FINISHED")


@contextmanager
def _noted(params: Params, stage: str, variant: str, _: str | None) -> Iterator[Run]:
    """A run that MLflow is told of later; at once where it fails."""
    layout = Layout(params.experiment)
    place = layout.note(stage, variant)
    note = Note(
        name=run_name(stage, variant),
        own_tags=_tags(params, stage, variant, None),
        params=stage_params(params, stage, variant),
        settings=(str(SETTINGS), _digest(SETTINGS)),
        read=_reads(params, layout, stage, variant),
        of=repro.current(),
        started=_now(),
    )
    if place.exists():  # of an earlier run, which nobody has told MLflow
        tell_noted(open_store(params.experiment), params)
    try:
        yield Run(note, "", variant, Stopwatch(layout, stage, variant))
    except BaseException as error:
        with suppress(InputError):
            note.tags({"error": _told(error)})
            note.ended = _now()
            store = open_store(params.experiment)
            tell_noted(store, params)
            parent = repro.parent(store, _common(params), note.of)
            note.tell(store, parent, "FAILED")
            _close(store, (parent,), "FAILED")
        raise
    note.ended = _now()
    note.write(place)


def tell_noted(store: Store, params: Params) -> None:
    """Make the runs of all notes that quick stages have left, in their order in time.

    A note is taken by its renaming, so that of two processes one makes the run. One that a killed process had taken is
    lost, and :func:`sync` then logs its result as restored.
    """
    folder = Layout(params.experiment).note("x").parent.parent
    mine = f".taken-{os.getpid()}"
    notes = []
    for path in folder.rglob("*.json"):
        taken = path.with_name(path.name + mine)
        with suppress(FileNotFoundError):  # another process was quicker
            path.rename(taken)
            notes.append((Note.load(taken), taken))
    parents: dict[str | None, None] = {}
    for note, taken in sorted(notes, key=lambda each: each[0].started):
        parent = repro.parent(store, _common(params), note.of)
        note.tell(store, parent, "FINISHED")
        parents[parent] = None
        taken.unlink()
    _close(store, parents, "FINISHED")


def sync(params: Params, rows: Sequence[Result] = ()) -> list[str]:
    """Make the runs of all notes; then one, tagged ``restored``, for every present result that no finished run has.

    Args:
        rows: every result: each system gets a run of its own with all of them, and the experiment a description.

    Returns:
        The names of the runs of stage instances that were missing.
    """
    layout = Layout(params.experiment)
    store = open_store(params.experiment)
    tell_noted(store, params)
    parent = repro.parent(store, _common(params), repro.current())
    known = store.contents()
    restored = []
    for stage, variant in instances(params):
        path = record(params, stage, variant)
        name = run_name(stage, variant)
        if not path.is_file() or (name, sha256(path)) in known:
            continue
        note = Note(
            name=name,
            own_tags={**_tags(params, stage, variant, None), "restored": "true", "content": sha256(path)},
            params=stage_params(params, stage, variant),
            settings=(str(SETTINGS), _digest(SETTINGS)),
            read=list(inputs(params, layout, stage, variant)),
        )
        run = Run(note, "", variant, Stopwatch(layout, stage, variant))
        if path.suffix == ".jsonl":
            run.log_results(read_results(path))
            if stage == "pretrain":
                _log_curve(run, layout.curve(variant))
        else:
            run.log_manifest(read_json(path))
        if stage == "runtime":
            run.log_results(timings(layout))
        run.log_metrics(_seconds(read_timings(layout, stage, variant, sha256(path))))
        run.log_artifact(path)
        made = note.tell(store, parent, "FINISHED")
        _log_models(store, made, params, stage, variant)
        restored.append(name)
    if rows:
        summarise(store, params, rows, parent)
    _close(store, (parent,), "FINISHED")
    return restored


def _reads(params: Params, layout: Layout, stage: str, variant: str) -> list[Input]:
    read = list(inputs(params, layout, stage, variant))
    if read:
        say(f"{run_name(stage, variant)} reads {in_words(read)}")
    return read


def _digest(path: Path) -> str:
    return sha256(path) if path.is_file() else ""


def _now() -> int:
    return int(time.time() * 1000)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MOST_VALUE]


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


def _log_models(store: Store, run_id: str, params: Params, stage: str, variant: str) -> None:
    """The model of each seed that a training leaves."""
    if stage == "pretrain":
        for seed in params.seeds:
            folder = Layout(params.experiment).model(variant, params, seed)
            if folder.is_dir():
                models.log_trained(store, run_id, params, variant, seed, folder)


def _seconds(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The durations, and what was measured of how they were used."""
    found = {f"seconds/{row['name']}": float(row["seconds"]) for row in rows}
    for row in rows:
        found |= {
            f"{metric}/{row['name']}": float(value) for metric, value in row.get("measures", {}).items()
        }
    return found


def _log_curve(run: Run, path: Path) -> None:
    """The validation losses of a training, under the names that a live training gives them."""
    for name, value, step in curve_points(path):
        run.log_metric(name, value, step)
    run.log_artifact(path)
