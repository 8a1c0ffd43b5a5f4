"""Stages side by side by real commands of DVC, in a pipeline of seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from tests.imports import ROOT

#: Ends only once the other file is there too: the two have to run at once.
MEET = """
import pathlib, sys, time
own, other = (pathlib.Path(name) for name in sys.argv[1:])
own.write_text("here")
for _ in range(600):
    if other.exists():
        sys.exit(0)
    time.sleep(0.1)
sys.exit("the other never came")
"""
STAGES = {
    "settings": {"cmd": "cp params.yaml settings.txt", "deps": ["params.yaml"], "outs": ["settings.txt"]},
    "pretrain@a": {"cmd": "python meet.py a.txt b.txt", "deps": ["settings.txt"], "outs": ["a.txt"]},
    "pretrain@b": {"cmd": "python meet.py b.txt a.txt", "deps": ["settings.txt"], "outs": ["b.txt"]},
    "rerank": {"cmd": "cat a.txt b.txt > rows.txt", "deps": ["a.txt", "b.txt"], "outs": ["rows.txt"]},
    "runtime": {"cmd": "test -e rows.txt && date > time.txt", "deps": ["b.txt"], "outs": ["time.txt"]},
}


#: As `make repro` does: a killed DVC may have left a file of its own cut short.
RUN = """
from pipeline import side_by_side
from pipeline.repair_dvc_files import repair_dvc_files
repair_dvc_files()
side_by_side.run(2)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    monkeypatch.setenv("DVC_NO_ANALYTICS", "true")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "meet.py").write_text(MEET)
    (tmp_path / "params.yaml").write_text("one: 1\n")
    names = {name.replace("@", "-"): stage for name, stage in STAGES.items()}
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": names}))
    assert dvc("init", "--no-scm", "--quiet").returncode == 0
    return tmp_path


def dvc(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dvc", *arguments], check=False, capture_output=True, text=True, timeout=300
    )


def side_by_side() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


def test_two_stages_run_at_once_and_dvc_finds_nothing_left_but_what_runs_alone(folder: Path) -> None:
    done = side_by_side()
    assert done.returncode == 0, done.stderr
    assert (folder / "rows.txt").read_text() == "herehere"
    assert not (folder / "time.txt").exists()
    again = dvc("repro").stdout
    assert [name for name in STAGES if f"Running stage '{name.replace('@', '-')}'" in again] == ["runtime"]
    assert dvc("status").stdout.strip() == "Data and pipelines are up to date."
    locked = yaml.safe_load((folder / "dvc.lock").read_text())["stages"]
    assert set(locked) == {name.replace("@", "-") for name in STAGES}


def test_sigterm_ends_the_stages_too(folder: Path) -> None:
    path = folder / "dvc.yaml"
    text = path.read_text()
    path.write_text(text.replace("python meet.py a.txt b.txt", "sleep 60"))
    running = subprocess.Popen([sys.executable, "-c", RUN], stderr=subprocess.DEVNULL)
    for _ in range(600):
        below = psutil.Process(running.pid).children(recursive=True)
        if any("sleep" in one.name() for one in below):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the stage never ran")
    running.terminate()
    assert running.wait(timeout=30) == 128 + signal.SIGTERM
    assert psutil.wait_procs(below, timeout=30)[1] == []
    path.write_text(text)
    assert side_by_side().returncode == 0
    assert (folder / "rows.txt").read_text() == "herehere"


def test_one_that_fails_leaves_what_the_other_made(folder: Path) -> None:
    path = folder / "dvc.yaml"
    text = path.read_text()
    path.write_text(text.replace("python meet.py a.txt b.txt", "python meet.py a.txt b.txt && exit 3"))
    done = side_by_side()
    assert done.returncode == 255, done.stderr
    assert "pretrain-a failed" in done.stderr
    assert "exited with 3" in done.stderr
    assert "`make repro` goes on from there" in done.stderr
    assert not (folder / "rows.txt").exists()
    path.write_text(text)
    (folder / "a.txt").unlink(missing_ok=True)
    assert side_by_side().returncode == 0
    assert (folder / "rows.txt").read_text() == "herehere"
