"""The run above all runs of one ``dvc repro``, and the runs whose process is dead.

DVC tells its commands nothing of the `dvc repro` that they belong to, and calls nobody when it ends. But it is their
ancestor: it is found among them, and its run is made by the first of its stages and closed, again and again, by each.
The commands of DVC that one `make repro` gives count as one.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import psutil

from pipeline.dvc_process import dvc_and_above
from pipeline.run import REPRO
from pipeline.tracking.mlflow import ExperimentStore, repository

#: Set within `dvc exp run`.
DVC_EXP_NAME = "DVC_EXP_NAME"
STAGE = "repro"
#: Seconds by which two readings of a process' start may differ: the clock may have been set between them.
SLACK = 5.0


def own_process() -> str:
    """The tag of the process that asks: no other process on any machine has it."""
    return _tag(psutil.Process())


def process_start() -> float:
    """When DVC started this process, in seconds since 1970."""
    return float(psutil.Process().create_time())


@dataclass(frozen=True)
class Repro:
    """A ``dvc repro``, or the ``make repro`` that gave it.

    Attributes:
        process: the tag of its process.
        started: in seconds since 1970.
        experiment: the name within ``dvc exp run``; else empty.
        dvc: the tag of DVC's own process.
        dvc_started: when that was.
    """

    process: str
    started: float
    experiment: str
    dvc: str
    dvc_started: float


def current_repro() -> Repro | None:
    """The ``dvc repro`` that runs this process; None where DVC did not start it."""
    above = list(dvc_and_above())
    given_by = os.environ.get(REPRO)
    given = (process for process in above if given_by in (None, str(process.pid)))
    return _repro(next(given, above[0]), above[0]) if above else None


def _repro(one: psutil.Process, dvc: psutil.Process) -> Repro:
    experiment = os.environ.get(DVC_EXP_NAME, "")
    return Repro(_tag(one), one.create_time(), experiment, _tag(dvc), dvc.create_time())


def parent(store: ExperimentStore, tags: dict[str, str], of: Repro | None) -> str | None:
    """The id of the run of a ``dvc repro``, RUNNING, or FAILED if a stage of it has; None for no ``dvc repro``.

    Args:
        tags: what every run of the settings is tagged with.
    """
    if of is None:
        return None
    with one_at_a_time():
        for run in store.search(f"tags.stage = '{STAGE}'"):
            run_id = str(run.info.run_id)
            if _same(run.data.tags["process"], of.process):
                if not store.failed(run_id):
                    store.resume(run_id)
                return run_id
        begun = datetime.fromtimestamp(of.started, UTC)
        name = f"{STAGE} {begun:%Y-%m-%d %H:%M:%S}" + (f" {of.experiment}" if of.experiment else "")
        own = {"stage": STAGE, "process": of.process} | (
            {"dvc.experiment": of.experiment} if of.experiment else {}
        )
        return store.create(name, {**tags, **own})


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one process of the repository at a time read something of MLflow and write what follows from it."""
    folder = os.open(repository(), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def mark_killed_runs(store: ExperimentStore) -> None:
    """Mark as KILLED every run that is RUNNING for a process of this machine which is there no more."""
    for run in store.search("attributes.status = 'RUNNING'"):
        tag = run.data.tags.get("process", "")
        host, _, rest = tag.partition(":")
        number = rest.partition(":")[0]
        if host != socket.gethostname() or not number.isdigit():
            continue
        try:
            alive = _same(_tag(psutil.Process(int(number))), tag)
        except psutil.NoSuchProcess:
            alive = False
        if not alive:
            store.end(run.info.run_id, "KILLED")


def _tag(process: psutil.Process) -> str:
    return f"{socket.gethostname()}:{process.pid}:{process.create_time():.2f}"


def _same(one: str, other: str) -> bool:
    """Whether two tags are of one process."""
    place, _, started = one.rpartition(":")
    there, _, begun = other.rpartition(":")
    return place == there and abs(float(started) - float(begun)) < SLACK
