"""What every stage shares: what it says of itself, how long it took, and who hears what the library warns of.

A stage writes files and returns; MLflow is told of them by the report, which comes last. Those that take
minutes are `live`: MLflow sees them while they run. All others start without importing it.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from pipeline import code
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import hardware
from pipeline.settings import PARAMS, StageSettings, is_by_dvc, read_params
from pipeline.stages import STAGES, record, stage_named
from pipeline.tracking.progress import say
from pipeline.tracking.repro import DVC_EXP_NAME, Repro, current_repro, process_start
from pipeline.tracking.run_fields import MetricPoint, in_words, inputs, run_name
from quartet.errors import InputError
from quartet.files import read_json, read_jsonl, sha256, write_json, write_jsonl
from quartet.results import Result, read_results


class StageWatcher(Protocol):
    """Who sees a stage while it runs."""

    def metrics(self, points: list[MetricPoint]) -> None: ...

    def tags(self, tags: dict[str, str]) -> None: ...


class StageRun:
    """One stage instance at work.

    Attributes:
        stopwatch: for durations within it.
    """

    def __init__(
        self, stopwatch: Stopwatch, watcher: StageWatcher | None, settings: StageSettings | None = None
    ) -> None:
        self.stopwatch = stopwatch
        self._watcher = watcher
        self._settings = settings

    def check(self) -> None:
        """Compare settings and local sources with what they were at the start: before the outputs are written.

        Raises:
            InputError: one is another now, so that this stage's work is not what the next run would take it for.
        """
        if self._settings is not None:
            self._settings.check()

    def metric(self, name: str, value: float, step: int = 0) -> None:
        """Report one point of a curve while it is drawn; only live stages are seen."""
        assert math.isfinite(value), f"{name}: {value} is no number"
        if self._watcher is not None:
            self._watcher.metrics([(name, value, step)])

    def tag(self, name: str, value: str) -> None:
        """Report a fact that no output holds; only live stages are seen."""
        if self._watcher is not None:
            self._watcher.tags({name: value})


class _Warnings(logging.Handler):
    """Prints what the library warns of; a metric that a warning comes with is reported."""

    def __init__(self, run: StageRun) -> None:
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        say(f"warning: {record.getMessage()}")
        if (metric := getattr(record, "metric", None)) is not None:
            self._run.metric(*metric)


@contextmanager
def same_code(stage: str) -> Iterator[None]:
    """Compare the code with what DVC notes of the stage, before the block and after it.

    Raises:
        InputError: as `pipeline.code.check` and `pipeline.code.after`.
    """
    begun = code.check(stage)
    yield
    code.after(stage, begun)


def note_experiment(params: Params) -> None:
    """Tell MLflow of an experiment of DVC that equals a state which it has: no report of it runs.

    An old report that cannot be read ends no run: the run writes a new one.
    """
    if DVC_EXP_NAME in os.environ:
        from pipeline.tracking.summary import show_present

        try:
            show_present(params)
        except InputError as error:
            say(f"MLflow shows what it showed: {error}")


@contextmanager
def stage_run(
    params: Params, stage: str, variant: str = "", *, resume: Path | None = None
) -> Iterator[StageRun]:
    """The work of one stage instance, from its inputs to its record.

    It says what the stage reads, and what it made in how many seconds; the durations are kept beside the artifacts.
    What DVC notes of the stage must be what ran: code, settings and local sources are compared at the start and at the
    end. Work that is done is kept where code was edited meanwhile: it is that of the code before.

    Args:
        stage, variant: as in dvc.yaml: ``stage_run(params, "sts", "tta")`` for ``sts@tta``.
        resume: the folder of an interrupted training, whose run goes on.

    Raises:
        InputError: MLflow cannot be reached, for a live stage; the code was edited before; a local source or, in an
            experiment, params.yaml was edited.
    """
    layout = Layout(params.experiment)
    begun = code.check(stage, read=stage_named(stage).tunes)
    read = inputs(params, layout, stage, variant)
    if read:
        say(f"{run_name(stage, variant)} reads {in_words(read)}")
    settings = StageSettings(params, stage, variant) if is_by_dvc() else None
    with _watched(params, stage, variant, resume) as watcher:
        run = StageRun(Stopwatch(layout, stage, variant), watcher, settings)
        run.check()
        warned = _Warnings(run)
        logging.getLogger("quartet").addHandler(warned)
        started, clock = time.time(), time.perf_counter()
        try:
            yield run
            seconds = time.perf_counter() - clock
            code.after(stage, begun)
            run.check()
            _check_experiment(params)
            process, dvc = process_start(), current_repro()
            run.stopwatch.add(START_UP, started - process)
            if dvc is not None:
                run.stopwatch.add(BETWEEN, seconds_before(layout, dvc, process))
            run.stopwatch.add(TOTAL, seconds, started=round(started, 3))
            if stage in STAGES:
                run.stopwatch.belongs_to(sha256(record(params, stage, variant)))
                say(f"{run_name(stage, variant)} took {seconds:.1f} s")
        finally:
            logging.getLogger("quartet").removeHandler(warned)
    if stage_named(stage).live:
        run.stopwatch.add(TELLING, time.time() - started - seconds)
    write_end(layout, dvc)


def _check_experiment(params: Params) -> None:
    """Within ``dvc exp run``, compare params.yaml with the settings: DVC records it as it is when all stages have run.

    Raises:
        InputError: it has been edited.
    """
    if DVC_EXP_NAME in os.environ and read_params(PARAMS) != params:
        raise InputError(PARAMS, "edited while `dvc exp run` ran", "run the experiment again")


@contextmanager
def _watched(params: Params, stage: str, variant: str, resume: Path | None) -> Iterator[StageWatcher | None]:
    if stage_named(stage).live:
        from pipeline.tracking.runs import live, report_rows, tell  # MLflow, which takes seconds to import

        with live(params, stage, variant, resume) as watcher:
            yield watcher
        if stage == "report":
            made = tell(params, report_rows(params))
            say(f"MLflow: {len(made)} run(s) logged")
    else:
        yield None


# ---------------------------------------------------------------------- how long things took
#
# It is kept beside the artifacts, in no file that another stage depends on.

#: The work of a stage instance, and what it costs beside: from the start of its process to that of its work; from its
#: work to the end of what MLflow is told at once; and DVC's time, from the end of the stage before, or from its own
#: start where this is its first, to the stage's process.
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


def write_end(layout: Layout, of: Repro | None) -> None:
    """Leave the time at which a stage ended for the next one of the same process of DVC; nothing without one."""
    if of is not None:
        write_json(layout.last_end, {"dvc": of.dvc, "ended": time.time()})


def seconds_before(layout: Layout, of: Repro, started: float) -> float:
    """DVC's time before a stage: since the end of the one before it, or, for its first, since its own start.

    Args:
        started: when the stage's process was, in seconds since 1970.
    """
    last = read_json(layout.last_end) if layout.last_end.is_file() else None
    since = last["ended"] if last is not None and last["dvc"] == of.dvc else of.dvc_started
    return max(0.0, started - since)  # two clocks


def timings(layout: Layout) -> list[Result]:
    """The run-time study's rows, which differ from run to run; none where it was made on another machine."""
    path = layout.run_times(sha256(layout.timed))
    return read_results(path) if path.is_file() else []
