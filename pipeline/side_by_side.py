"""`dvc repro` with stages side by side: what `make repro` runs.

DVC runs one stage after the other, but several of its commands may run at once. Here each stage that has something to
do gets a ``dvc repro --single-item`` of its own, as soon as those that it waits for are done. Results do not depend on
it: every stage computes with the threads that params.yaml says.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from graphlib import TopologicalSorter
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TextIO

import psutil

from pipeline.display import Display
from pipeline.params import Params
from pipeline.run import REPRO, choose_device
from pipeline.settings import PARAMS
from pipeline.stages import stage_named
from pipeline.tracking.progress import say
from quartet.errors import InputError

#: More than a stage instance of the presets sample and tiny takes of the memory.
MEMORY = 2 * 2**30
#: An edge of ``dvc dag --dot``.
EDGE = re.compile(r'^"(.+)" -> "(.+)";$', re.MULTILINE)
#: The stage that the others depend on; it takes a second.
SETTINGS = "settings"
#: No variables of the environment.
NONE: Mapping[str, str] = MappingProxyType({})


def jobs(params: Params, wanted: str = "") -> int:
    """How many stages may run at once.

    Args:
        wanted: the user's number; empty: as many as have a core for each thread of each of their processes, and 2 GiB
            of memory. One where a stage has all cores (``threads: 0``) or a GPU.

    Raises:
        InputError: it is no number from 1.
    """
    if wanted:
        if not re.fullmatch("[1-9][0-9]*", wanted):
            raise InputError(
                f"JOBS={wanted}", "is no number of stages", "set a number from 1, or leave it out"
            )
        return int(wanted)
    if not params.threads or choose_device(params.device) != "cpu":
        return 1
    cores = len(os.sched_getaffinity(0))
    fit = int(psutil.virtual_memory().available) // MEMORY
    return max(1, min(cores // (params.threads * params.trainer.devices), fit))


def dvc(*arguments: str, variables: Mapping[str, str] = NONE) -> None:
    """Run a command of DVC; where it fails, leave with its code.

    Args:
        variables: of the environment, beside those of this process.
    """
    _leave_on(_run(*arguments, variables=variables))


def repro(most: int) -> None:
    """Bring everything up to date, at most so many stages at once.

    Where one fails, those that run end, and this process leaves.
    """
    if most == 1:
        dvc("repro")
        return
    running: dict[Future[int], str] = {}
    with _stopped_by_sigterm(running):
        with _away() as away:
            _leave_on(_run("repro", SETTINGS, stdout=away))
        changed = _changed()
        if not changed:
            say("everything is up to date")
            return
        _side_by_side(most, changed, running)


def _side_by_side(most: int, changed: set[str], running: dict[Future[int], str]) -> None:
    """Run what changed, and what waits for it; `running` is kept up to date."""
    waits_for = stages_to_run(changed, EDGE.findall(_said("dag", "--dot")))
    order = TopologicalSorter(waits_for)
    order.prepare()
    behind = {stage: len(_after(stage, waits_for)) for stage in waits_for}
    ready: list[str] = []
    failed: dict[str, int] = {}
    settings = PARAMS.read_bytes()
    with Display(len(waits_for)) as display, ThreadPoolExecutor(most) as pool:
        while (order.is_active() and not failed) or running:
            ready += order.get_ready()
            ready.sort(
                key=lambda stage: (alone(stage), -behind[stage])
            )  # what most others wait for comes first
            while ready and len(running) < (1 if alone(ready[0]) else most) and not failed:
                stage = ready.pop(0)
                display.begin(stage)
                running[pool.submit(_repro_alone, stage, display)] = stage
                if alone(stage):
                    break
            for one in wait(running, return_when=FIRST_COMPLETED).done:
                stage, code = running.pop(one), one.result()
                if code:
                    failed[stage] = code
                    say(
                        f"{stage} failed"
                        + (f"; waiting for {', '.join(running.values())}" if running else "")
                    )
                else:
                    order.done(stage)
    if failed:
        if PARAMS.read_bytes() != settings:
            say(f"{PARAMS} was edited meanwhile: DVC reads it for every stage")
        _leave_on(next(iter(failed.values())))


@contextmanager
def _stopped_by_sigterm(running: Mapping[Future[int], str]) -> Iterator[None]:
    """Let SIGTERM to this process end the stages that run, which would go on without it; they go on when run again.

    Ctrl-C reaches them by itself, and this process waits for them.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        for dvc in psutil.Process().children():
            with suppress(psutil.NoSuchProcess):
                for process in dvc.children(recursive=True) or [dvc]:  # DVC itself ends when its command has
                    with suppress(psutil.NoSuchProcess):
                        process.terminate()
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        if running:
            say(f"interrupted; waiting for {', '.join(running.values())}")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def stages_to_run(changed: set[str], edges: list[tuple[str, str]]) -> dict[str, set[str]]:
    """What changed and all that comes after it, in DVC's order, each with those among them that it waits for.

    Args:
        edges: (stage, one that reads what it makes) for all of the pipeline.
    """
    waits_for: dict[str, set[str]] = {}
    for before, after in edges:
        waits_for.setdefault(before, set())
        waits_for.setdefault(after, set()).add(before)
    touched = changed.union(*(_after(stage, waits_for) for stage in changed))
    return {stage: before & touched for stage, before in waits_for.items() if stage in touched}


def alone(stage: str) -> bool:
    """Whether nothing may run beside a stage, which then waits for all others that can run."""
    return stage_named(stage.partition("@")[0]).alone


def _after(stage: str, waits_for: dict[str, set[str]]) -> set[str]:
    """All stages that wait for one, or for one that waits for it."""
    found: set[str] = set()
    new = {stage}
    while new:
        new = {other for other, before in waits_for.items() if before & new} - found
        found |= new
    return found


def _changed() -> set[str]:
    """The stages that DVC says are to run, without the one that always does, and has."""
    return set(json.loads(_said("status", "--json"))) - {SETTINGS}


def _said(*arguments: str) -> str:
    """What a command of DVC prints; where it fails, leave with its code."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        _leave_on(_run(*arguments, stdout=said))
        said.seek(0)
        return said.read()


def _repro_alone(stage: str, display: Display) -> int:
    """Run one stage; the code of its end. Errors and what stages say are on stderr."""
    with _away() as away, display.stage(stage) as said:
        arguments = ("--wait-for-lock", "repro", "--single-item", stage)
        return _run(*arguments, stdout=away, stderr=said, variables=display.variables)


def _away() -> TextIO:
    """For what DVC says on stdout, which would stand there for every stage."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _run(
    *arguments: str,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    variables: Mapping[str, str] = NONE,
) -> int:
    """Run a command of DVC; the code of its end."""
    environment = {**os.environ, REPRO: str(os.getpid()), **variables}
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, check=False, stdout=stdout, stderr=stderr, env=environment)
    return done.returncode


def _leave_on(code: int) -> None:
    if code:
        print("the pipeline stopped: the error is above; `make repro` goes on from there", file=sys.stderr)
        sys.exit(code)
