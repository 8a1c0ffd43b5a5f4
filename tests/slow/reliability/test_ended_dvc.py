"""A stage ends when its DVC does, and leaves the outputs of the next run alone."""

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

#: A stage as those of stages/ are: it says that it is at work, and writes long after.
STAGE = """
import multiprocessing, pathlib, time
from pipeline.run import main

def work():
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    child.start()
    pathlib.Path("at-work.txt").write_text(str(child.pid))
    time.sleep(600)
    pathlib.Path("out.txt").write_text("late")

if __name__ == "__main__":
    main(work)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one stage, which takes ten minutes."""
    (tmp_path / "late.py").write_text(STAGE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    subprocess.run([sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"], check=True)
    return tmp_path


@pytest.mark.parametrize("shell", ["", "; true"], ids=["the shell becomes the stage", "a shell between"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stage_ends_when_its_dvc_does(folder: Path, number: signal.Signals, shell: str) -> None:
    stages = {"late": {"cmd": f"{sys.executable} late.py{shell}", "outs": ["out.txt"]}}
    (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
    with subprocess.Popen([sys.executable, "-m", "dvc", "repro"], stderr=subprocess.DEVNULL) as dvc:
        at_work = folder / "at-work.txt"
        until = time.monotonic() + 300
        while not (at_work.is_file() and at_work.read_text()):
            assert time.monotonic() < until and dvc.poll() is None
            time.sleep(0.05)
        below = psutil.Process(dvc.pid).children(recursive=True)
        assert int(at_work.read_text()) in {process.pid for process in below}
        assert any("late.py" in process.cmdline() for process in below)
        dvc.send_signal(number)
    _, alive = psutil.wait_procs(below, timeout=60)
    assert alive == []
    assert not (folder / "out.txt").exists()
