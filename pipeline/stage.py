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
from typing import Protocol

from pipeline import code
from pipeline.layout import MANIFEST, Layout
from pipeline.loading import load
from pipeline.params import Params
from pipeline.progress import say
from pipeline.settings import PARAMS
from pipeline.stages import STAGES, record, stage_named
from pipeline.timing import (
    BETWEEN,
    START_UP,
    TELLING,
    TOTAL,
    Stopwatch,
    seconds_between,
    write_end,
)
from pipeline.tracked.inputs import in_words, inputs
from pipeline.tracked.names import run_name
from pipeline.tracked.repro import DVC_EXP_NAME, of_dvc, process_start
from quartet.errors import InputError
from quartet.files import sha256

Point = tuple[str, float, int]
"""A metric's name, its value and its step."""


class Watcher(Protocol):
    """Who sees a stage while it runs."""

    def metrics(self, points: list[Point]) -> None: ...

    def tags(self, tags: dict[str, str]) -> None: ...


class Run:
    """One stage instance at work.

    Attributes:
        stopwatch: for durations within it.
    """

    def __init__(self, stopwatch: Stopwatch, watcher: Watcher | None) -> None:
        self.stopwatch = stopwatch
        self._watcher = watcher

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

    def __init__(self, run: Run) -> None:
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        say(f"warning: {record.getMessage()}")
        if (metric := getattr(record, "metric", None)) is not None:
            self._run.metric(*metric)


@contextmanager
def stage_run(params: Params, stage: str, variant: str = "", *, resume: Path | None = None) -> Iterator[Run]:
    """The work of one stage instance, from its inputs to its record.

    It says what the stage reads, and what it made in how many seconds; the durations are kept beside the artifacts.
    What DVC notes of the stage must be what ran: the code is compared at the start and at the end.

    Args:
        stage, variant: as in dvc.yaml: ``stage_run(params, "sts", "tta")`` for ``sts@tta``.
        resume: the folder of an interrupted training, whose run goes on.

    Raises:
        InputError: MLflow cannot be reached, for a live stage; the code or, in an experiment, params.yaml was edited.
    """
    layout = Layout(params.experiment)
    code.check(stage, read=stage_named(stage).tunes)
    read = inputs(params, layout, stage, variant)
    if read:
        say(f"{run_name(stage, variant)} reads {in_words(read)}")
    with _watched(params, stage, variant, resume) as watcher:
        run = Run(Stopwatch(layout, stage, variant), watcher)
        warned = _Warnings(run)
        logging.getLogger("quartet").addHandler(warned)
        started, clock = time.time(), time.perf_counter()
        try:
            yield run
            seconds = time.perf_counter() - clock
            code.check(stage)
            _check_experiment(params)
            process, dvc = process_start(), of_dvc()
            run.stopwatch.add(START_UP, started - process)
            if (waited := seconds_between(layout, dvc, process)) is not None:
                run.stopwatch.add(BETWEEN, waited)
            run.stopwatch.add(TOTAL, seconds, started=round(started, 3))
            if stage in STAGES:
                path = record(params, stage, variant)
                run.stopwatch.belongs_to(sha256(path))
                place = path.parent if path.name == MANIFEST else path
                say(f"{run_name(stage, variant)} took {seconds:.1f} s -> {place}")
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
    if DVC_EXP_NAME in os.environ and load(PARAMS) != params:
        raise InputError(PARAMS, "edited while `dvc exp run` ran", "run the experiment again")


@contextmanager
def _watched(params: Params, stage: str, variant: str, resume: Path | None) -> Iterator[Watcher | None]:
    if stage_named(stage).live:
        from pipeline.tracked.runs import live, reported, tell  # MLflow, which takes seconds to import

        with live(params, stage, variant, resume) as watcher:
            yield watcher
        if stage == "report":
            made = tell(params, reported(params))
            say(f"MLflow: {len(made)} run(s) logged")
    else:
        yield None
