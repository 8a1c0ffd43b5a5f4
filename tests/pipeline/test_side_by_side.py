"""`make repro` runs the stages that do not wait for each other at once, and no other."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pipeline import side_by_side
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.tracking.progress import PROGRESS
from quartet.errors import InputError

EDGES = [
    *(("code", "settings"), ("settings", "encode"), ("code", "encode")),
    *(
        ("encode", "pretrain@a"),
        ("encode", "pretrain@b"),
        ("pretrain@a", "rerank@a"),
        ("encode", "rerank@a"),
        ("encode", "ngram"),
    ),
    *(("pretrain@a", "runtime"), ("runtime", "report"), ("rerank@a", "report"), ("pretrain@b", "report")),
]


def test_what_changed_runs_with_all_behind_it() -> None:
    assert side_by_side.stages_to_run({"pretrain@a"}, EDGES) == {
        "pretrain@a": set(),
        "rerank@a": {"pretrain@a"},
        "runtime": {"pretrain@a"},
        "report": {"runtime", "rerank@a"},
    }
    assert side_by_side.stages_to_run({"rerank@a", "report"}, EDGES) == {
        "rerank@a": set(),
        "report": {"rerank@a"},
    }
    assert side_by_side.stages_to_run({"encode"}, EDGES) == {
        "encode": set(),
        "pretrain@a": {"encode"},
        "pretrain@b": {"encode"},
        "rerank@a": {"pretrain@a", "encode"},
        "ngram": {"encode"},
        "runtime": {"pretrain@a"},
        "report": {"runtime", "rerank@a", "pretrain@b"},
    }
    assert side_by_side.stages_to_run(set(), EDGES) == {}
    assert side_by_side.stages_to_run({"code"}, EDGES)["settings"] == {"code"}
    assert side_by_side.stages_to_run({"code"}, EDGES)["code"] == set()


@pytest.fixture
def params(workspace: Path) -> Params:
    return read_params(workspace / "params.yaml")


@pytest.mark.parametrize(
    ("threads", "cores", "gigabytes", "wanted", "expected"),
    [
        (1, 2, 64, "", 2),
        (1, 8, 64, "", 8),
        (2, 8, 64, "", 4),
        (2, 3, 64, "", 1),
        (4, 2, 64, "", 1),
        (0, 8, 64, "", 1),  # a stage has them all
        (1, 8, 7, "", 3),
        (1, 8, 1, "", 1),
        (1, 2, 64, "5", 5),
        (0, 8, 64, "2", 2),
    ],
)
def test_as_many_run_as_have_cores_and_memory(
    threads: int,
    cores: int,
    gigabytes: int,
    wanted: str,
    expected: int,
    params: Params,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = psutil.virtual_memory()._replace(available=gigabytes * 2**30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    assert side_by_side.jobs(dataclasses.replace(params, threads=threads), wanted) == expected


def test_a_training_on_several_devices_has_its_cores(params: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    trainer = dataclasses.replace(params.trainer, devices=4)
    assert side_by_side.jobs(dataclasses.replace(params, threads=1, trainer=trainer)) == 2


def test_one_runs_where_a_gpu_computes(params: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.setattr(side_by_side, "choose_device", lambda device: "cuda")
    assert side_by_side.jobs(dataclasses.replace(params, threads=1)) == 1


@pytest.mark.parametrize("wanted", ["0", "two", "-1", "1.5", "٣"])
def test_a_number_of_jobs_that_is_none_is_refused(wanted: str, params: Params) -> None:
    with pytest.raises(InputError, match=f"^JOBS={wanted}: is no number of stages; set a number from 1"):
        side_by_side.jobs(params, wanted)


class Dvc:
    """In the place of DVC: a pipeline, what has changed in it, and what ran beside what."""

    def __init__(self, changed: set[str], *fail: str) -> None:
        self.changed = changed
        self.fail = fail
        self.options: list[dict[str, Any]] = []
        self.commands: list[list[str]] = []
        self.ran: list[str] = []
        self.beside: dict[str, set[str]] = {}
        self.done_before: dict[str, set[str]] = {}
        self.meeting = threading.Barrier(2)
        self._now: set[str] = set()
        self._done: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        arguments = command[3:]
        self.commands.append(arguments)
        if arguments[0] == "status":
            options["stdout"].write(json.dumps({one: [] for one in self.changed | {"settings"}}))
        elif arguments[0] == "dag":
            nodes = "".join(f'"{one}";\n' for one in ("code", "settings", "encode"))
            edges = "".join(f'"{before}" -> "{after}";\n' for before, after in EDGES)
            options["stdout"].write(f"strict digraph {{\n{nodes}{edges}}}\n")
        elif arguments == ["repro", "settings"]:
            self.changed -= {"code", "settings"}
        else:
            self.options.append(options)
            return subprocess.CompletedProcess(command, self.stage(arguments[-1]))
        return subprocess.CompletedProcess(command, 0)

    def stage(self, name: str) -> int:
        with self._lock:
            self.ran.append(name)
            self._now.add(name)
            self.done_before[name] = set(self._done)
        if name.startswith("pretrain"):
            self.meeting.wait(30)  # the two end only if they run at once
            while name == "pretrain@b" and "pretrain@a" not in self._done:
                time.sleep(0.01)
            time.sleep(0.3 * (name == "pretrain@b"))
        with self._lock:
            self.beside[name] = self._now - {name}
            self._now.remove(name)
            self._done.add(name)
        return 7 if name in self.fail else 0


@pytest.fixture
def run(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Dvc]:
    def run(dvc: Dvc, most: int = 2) -> Dvc:
        monkeypatch.chdir(workspace)
        monkeypatch.setattr(subprocess, "run", dvc)
        side_by_side.repro(most)
        return dvc

    return run


def test_two_models_are_trained_at_once_and_an_evaluation_waits_for_its_own(
    run: Callable[..., Dvc], capsys: pytest.CaptureFixture[str]
) -> None:
    dvc = run(Dvc({"code", "encode"}))
    assert dvc.commands[:3] == [["repro", "settings"], ["status", "--json"], ["dag", "--dot"]]
    assert dvc.ran[0] == "encode"
    assert dvc.ran[-2:] == ["runtime", "report"] and dvc.beside["runtime"] == set(), (
        "it runs alone, as the last that can"
    )
    begun = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert begun[1] == "pretrain@a", "most wait for it"
    assert len(dvc.ran) == 7
    assert {"encode", "pretrain@a"} <= dvc.done_before["rerank@a"]
    assert dvc.beside["encode"] == set()


def test_nothing_runs_where_nothing_changed(run: Callable[..., Dvc]) -> None:
    assert run(Dvc(set())).commands == [["repro", "settings"], ["status", "--json"]]
    assert run(Dvc({"encode"}), 1).commands == [["repro"]], "DVC alone runs one after the other"
    assert run(Dvc({"runtime"})).ran == ["runtime", "report"]


def test_where_one_fails_the_other_ends_and_nothing_is_begun(
    run: Callable[..., Dvc], capsys: pytest.CaptureFixture[str]
) -> None:
    dvc = Dvc({"encode", "pretrain@b"}, "pretrain@b", "pretrain@a")
    with pytest.raises(SystemExit) as left:
        run(dvc)
    assert left.value.code == 7
    assert sorted(dvc.ran) == ["encode", "pretrain@a", "pretrain@b"]
    said = capsys.readouterr().err
    assert "pretrain@b failed" in said
    assert "pretrain@a failed; waiting for pretrain@b" in said
    assert "`make repro` goes on from there" in said


def test_what_could_run_does_not_begin_after_a_failure(run: Callable[..., Dvc]) -> None:
    dvc = Dvc({"encode"}, "pretrain@a")
    with pytest.raises(SystemExit):
        run(dvc)
    assert sorted(dvc.ran) == ["encode", "pretrain@a", "pretrain@b"], "not ngram"


def test_a_failure_after_an_edit_of_the_settings_says_so(
    run: Callable[..., Dvc], workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Editor(Dvc):
        def stage(self, name: str) -> int:
            if name == "pretrain@b":
                (workspace / "params.yaml").write_text("experiment: other\n")
            return super().stage(name)

    for dvc, edited in ((Dvc({"encode"}, "pretrain@b"), False), (Editor({"encode"}, "pretrain@b"), True)):
        with pytest.raises(SystemExit):
            run(dvc)
        assert ("params.yaml was edited meanwhile" in capsys.readouterr().err) is edited


def test_a_stage_waits_for_dvcs_lock_and_says_what_it_says_alone(
    run: Callable[..., Dvc], capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors and lines are on stderr, which comes by a pipe; without a terminal nobody draws the progress."""

    class Saying(Dvc):
        def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
            if command[-1] == "rerank@a":
                options["stderr"].write(
                    "\x1b[33mWARNING\x1b[0m: 'artifacts/x/combined' is empty.\nWER 1 %\nERROR: no\n"
                )
            return super().__call__(command, **options)

    dvc = run(Saying({"rerank@a"}))
    assert dvc.commands[-2] == ["--wait-for-lock", "repro", "--single-item", "rerank@a"]
    assert dvc.options[0]["stdout"].name == os.devnull
    assert PROGRESS not in dvc.options[0]["env"]
    assert capsys.readouterr().err == "[1 of 2] rerank@a\nWER 1 %\nERROR: no\n[2 of 2] report\n"


def test_what_dvc_itself_refuses_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 251))
    with pytest.raises(SystemExit) as left:
        side_by_side.repro(2)
    assert left.value.code == 251


def test_commands_of_dvc_belong_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, str]] = []

    def keep(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        given.append(env)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(subprocess, "run", keep)
    side_by_side.dvc("repro")
    assert given[0] == {**os.environ, "QUARTET_REPRO": str(os.getpid())}
