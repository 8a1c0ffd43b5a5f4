"""A training killed between two steps, and an evaluation killed at work, end as those that nobody disturbed.

Their processes get SIGKILL. `python -m tests.reliability.kills` does it to every stage, through DVC.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.tracking.mlflow import ExperimentStore
from quartet.files import TEMPORARY, sha256
from stages.download import download
from stages.encode import encode
from stages.segment import segment
from stages.settings import settings as write_settings
from stages.tokenizer import tokenizer
from tests.imports import ROOT
from tests.reliability.kills import kind, plan, settings

CORPUS, PIECES, MODEL = "wikipedia-sample", "wordpiece-1k", "segatron-xl"
#: Its training is killed when it has done ten steps or a few more, and has a point of its curve.
FEWER = {"steps: 400,": "steps: 100,", "validate_every: 50,": "validate_every: 5,"}


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the settings, and all that a training reads."""
    folder = tmp_path_factory.mktemp("encoded")
    text = settings()
    for old, new in FEWER.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "params.yaml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_settings()
        download(CORPUS)
        segment(CORPUS)
        tokenizer(PIECES)
        encode(CORPUS, PIECES)
    return folder


#: Has imported what the stages import, which takes longer than their work, and runs each stage in a fork.
IMPORTED = """
import os, runpy, sys
import stages.perplexity, stages.pretrain
for line in sys.stdin:
    folder, module, *arguments = line.split()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.chdir(folder)
        sys.argv = [module, *arguments]
        code = 0
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except BaseException as error:
            code = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Stages:
    """Stages in processes of their own, one after the other."""

    def __init__(self) -> None:
        places = os.pathsep.join(str(path) for path in (ROOT, ROOT / "src"))
        self.forks = subprocess.Popen(
            [sys.executable, "-c", IMPORTED],
            env={**os.environ, "PYTHONPATH": places, "CI": "true"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self.process = 0

    def start(self, folder: Path, *command: str) -> None:
        """Let a stage begin."""
        assert self.forks.stdin is not None
        self.forks.stdin.write(" ".join([str(folder), *command, "\n"]).encode())
        self.process = self._number()

    def _number(self) -> int:
        assert self.forks.stdout is not None
        return int(self.forks.stdout.readline())

    def ended(self) -> bool:
        """Whether the stage has ended by itself."""
        assert self.forks.stdout is not None
        return bool(select.select([self.forks.stdout], [], [], 0)[0])

    def wait(self) -> int:
        """Wait for its end; its exit code."""
        return self._number()

    def kill(self) -> None:
        assert not self.ended(), "it had ended before it could be killed"
        os.kill(self.process, signal.SIGKILL)
        assert self.wait() == -signal.SIGKILL

    def run(self, folder: Path, *command: str) -> float:
        """Run a stage to its end; its seconds."""
        began = time.monotonic()
        self.start(folder, *command)
        assert self.wait() == 0
        return time.monotonic() - began


@pytest.fixture
def stages() -> Iterator[Stages]:
    stages = Stages()
    try:
        yield stages
    finally:
        stages.forks.kill()
        stages.forks.communicate()


def made(folder: Path, name: str) -> dict[str, str]:
    """The hashes of all files of a folder of artifacts."""
    root = folder / "artifacts" / "tiny" / name
    return {str(path.relative_to(root)): sha256(path) for path in sorted(root.rglob("*")) if path.is_file()}


def test_what_was_killed_ends_as_what_was_not(encoded: Path, stages: Stages, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        shutil.copytree(encoded, folder)
    stages.run(whole, "stages.pretrain", MODEL)
    stages.start(killed, "stages.pretrain", MODEL)
    point = _first(killed, "artifacts/tiny/resume/**/resume.ckpt", stages)
    time.sleep(0.05)  # a few steps
    stages.kill()
    assert point.is_file() and not (killed / "artifacts" / "tiny" / "models").exists()
    stages.run(killed, "stages.pretrain", MODEL)
    assert not point.exists() and not list(killed.rglob(f"{TEMPORARY}*"))
    for name in ("models", "rows", "curves"):
        assert made(killed, name) == made(whole, name) != {}, name
    seconds = stages.run(whole, "stages.perplexity", MODEL)
    stages.start(killed, "stages.perplexity", MODEL)
    time.sleep(0.5 * seconds)
    stages.kill()
    stages.run(killed, "stages.perplexity", MODEL)
    assert made(killed, "rows") == made(whole, "rows")


def _first(folder: Path, pattern: str, stages: Stages) -> Path:
    """The first file of a pattern, as soon as it is there."""
    while not stages.ended():
        for path in folder.glob(pattern):
            return path
        time.sleep(0.01)
    raise AssertionError(f"the stage ended with {stages.wait()} before there was a {pattern}")


def test_every_kind_of_stage_is_killed_at_least_once() -> None:
    seconds = {"a@x": 5.0, "a@y": 1.0, "pretrain@m": 8.0, "report": 2.0}
    moments = plan(seconds, 40, random.Random(1))
    assert sum(map(len, moments.values())) == 40
    assert {kind(stage) for stage, each in moments.items() if each} == {"a", "pretrain", "report"}
    assert all(0 <= moment < 1 for each in moments.values() for moment in each)


def test_without_dvc_lock_the_outputs_come_from_dvcs_cache_of_runs(tmp_path: Path) -> None:
    """What a kill costs that leaves dvc.lock unreadable: a mending, and no stage again."""
    command = "date +%s%N > out.txt && echo ran >> ../ran.txt"
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "in.txt").touch()
    stage = f"stages:\n  a:\n    cmd: {command}\n    deps: [in.txt]\n    outs: [out.txt]\n"
    (tmp_path / "here" / "dvc.yaml").write_text(stage)
    places = os.pathsep.join(str(path) for path in (ROOT, ROOT / "src"))
    environment = {**os.environ, "PYTHONPATH": places, "DVC_NO_ANALYTICS": "true"}

    def python(*arguments: str) -> int:
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tmp_path / "here",
            env=environment,
            capture_output=True,
            check=False,
        )
        return done.returncode

    assert python("dvc", "init", "--no-scm", "-q") == python("dvc", "repro") == 0
    made = (tmp_path / "here" / "out.txt").read_text()
    lock = tmp_path / "here" / "dvc.lock"
    whole = lock.read_text()
    lock.write_text("")
    assert python("dvc", "repro") != 0, (
        "if DVC can do without, pipeline/repair_dvc_files.py is no longer needed"
    )
    assert python("pipeline.repair_dvc_files") == 0
    assert python("dvc", "repro") == 0
    assert (tmp_path / "here" / "out.txt").read_text() == made
    assert lock.read_text() == whole
    assert (tmp_path / "ran.txt").read_text() == "ran\n"


def test_the_database_of_mlflow_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped while MLflow makes its tables, with some of them there."""
    from mlflow.store.db import utils

    class Killed(BaseException):
        pass

    def killed(engine: object) -> None:
        raise Killed

    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    with monkeypatch.context() as patch:
        patch.setattr(utils, "_upgrade_db", killed)
        with pytest.raises(Killed):
            ExperimentStore(uri, "tiny")
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db.lock"]
    assert ExperimentStore(uri, "tiny").experiment == ExperimentStore(uri, "tiny").experiment
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlflow.db", "mlflow.db.lock"]
