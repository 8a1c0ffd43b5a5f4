"""Stages side by side by real commands of DVC, in a pipeline of seconds."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
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
#: Says how far it is for two seconds.
STEPS = """
import sys, time
from pipeline.tracking.progress import bar
print("said beside them", file=sys.stderr)
with bar("steps", 10) as shown:
    for _ in range(10):
        shown.advance()
        time.sleep(0.2)
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
side_by_side.repro(2)
"""


#: A stage as those in stages/: it says who started it, and who DVC is for it.
STAGE = """
import json, pathlib, sys, time
from pipeline.tracking.repro import current_repro
of = current_repro()
facts = {"dvc": of.dvc, "repro": of.process}
pathlib.Path(sys.argv[1]).write_text(json.dumps(facts))
time.sleep(float(sys.argv[2]))
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


def test_two_stages_run_at_once_and_what_runs_alone_comes_last(folder: Path) -> None:
    done = side_by_side()
    assert done.returncode == 0, done.stderr
    assert (folder / "rows.txt").read_text() == "herehere"
    begun = [line.partition("] ")[2] for line in done.stderr.splitlines() if line.startswith("[")]
    assert begun[2:] == ["rerank", "runtime"]
    assert done.stdout == "", "DVC's own lines are those of every stage"
    assert (folder / "time.txt").exists()
    assert dvc("status").stdout.strip() == "Data and pipelines are up to date."
    locked = yaml.safe_load((folder / "dvc.lock").read_text())["stages"]
    assert set(locked) == {name.replace("@", "-") for name in STAGES}


def test_on_a_terminal_each_running_stage_has_a_line_with_its_progress(folder: Path) -> None:
    (folder / "meet.py").write_text(STEPS + MEET)
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
    size = {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    with subprocess.Popen([sys.executable, "-c", RUN], stderr=theirs, env={**environment, **size}) as running:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # where the other end is closed
            while chunk := os.read(ours, 4096):
                said += chunk
    os.close(ours)
    assert running.returncode == 0, said
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    for stage in ("pretrain-a", "pretrain-b"):
        assert re.search(rf"{stage} +steps .* [1-9]/10", shown), shown
    assert re.search(r"stages .* 2/4", shown), shown
    assert "said beside them" in shown


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


@pytest.fixture
def stages(folder: Path) -> Path:
    """The pipeline with stages that are scripts of a package."""
    package = folder / "scripts"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "stage.py").write_text(STAGE)
    path = folder / "dvc.yaml"
    text = path.read_text()
    for name, seconds in (("a", 0), ("b", 0.5)):
        other = "b" if name == "a" else "a"
        text = text.replace(f"meet.py {name}.txt {other}.txt", f"-m scripts.stage {name}.txt {seconds}")
    path.write_text(text)
    return folder


def test_stages_know_who_started_them(stages: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", RUN], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        said = running.stderr.read()
    assert running.returncode == 0, said
    facts = [json.loads((stages / f"{name}.txt").read_text()) for name in "ab"]
    for each in facts:
        assert each["repro"].split(":")[1] == str(running.pid)
    assert len({running.pid, *(each["dvc"].split(":")[1] for each in facts)}) == 3
    assert dvc("status", "pretrain-a", "pretrain-b").stdout.strip() == "Data and pipelines are up to date."


@pytest.mark.parametrize("where", ["beside another", "alone"])
def test_sigterm_ends_scripts_of_stages_too(where: str, stages: Path) -> None:
    path = stages / "dvc.yaml"
    text = path.read_text()
    stays, made = {
        "beside another": (text.replace("a.txt 0", "a.txt 60"), "a.txt"),
        "alone": (text.replace("date > time.txt", "python -m scripts.stage time.txt 60"), "time.txt"),
    }[where]
    path.write_text(stays)
    running = subprocess.Popen([sys.executable, "-c", RUN], stderr=subprocess.DEVNULL)
    for _ in range(600):
        if (stages / made).exists():
            break
        time.sleep(0.1)
    below = psutil.Process(running.pid).children(recursive=True)
    assert len(below) >= 2
    running.terminate()
    assert running.wait(timeout=30) == 128 + signal.SIGTERM
    assert psutil.wait_procs(below, timeout=30)[1] == []
    path.write_text(text)
    assert side_by_side().returncode == 0
