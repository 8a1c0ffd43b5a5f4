"""Kill a small pipeline again and again, at random moments of every stage, and compare with an undisturbed run.

    python -m tests.reliability.kills [--kills 60] [--seed 1] [--keep FOLDER]

Both run `dvc repro` in a copy of the project of their own. Of one the whole process group, DVC and its children,
gets SIGKILL; then `dvc repro` is started again. Ends with code 1 where a result differs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from quartet.files import TEMPORARY, sha256
from tests.imports import ROOT

PARTS = ("dvc.yaml", ".dvcignore", "pipeline", "stages", "src", "data")
STARTED = re.compile(r"Running stage '([^']+)'")
#: The preset tiny, with trainings that are long enough to be hit, and that keep resume points.
CHANGES = {
    "steps: 30,": "steps: 400,",
    "validate_every: 15,": "validate_every: 50,",
    "checkpoint_every: 15}": "checkpoint_every: 10}",
}
#: What a training's stage is drawn more often than another that takes as long.
TRAINING = 3.0
#: How much the pace of the last stage counts for the pace that is expected of the next: other work comes and goes.
NEWS = 0.4
#: What a DVC that was killed while it wrote says when it is started again.
CUT = ("YAML file structure is corrupted", "validation failed", "JSON structure is corrupted")


@dataclass(frozen=True)
class Kill:
    """One SIGKILL.

    Attributes:
        stage: the stage that ran last.
        computing: its process was alive; else DVC was at work after it.
        resumable: a resume point of a training was there.
    """

    stage: str
    computing: bool
    resumable: bool


class Project:
    """A copy of the project with a git and a DVC of its own.

    Attributes:
        pace: the time that stages take just now, as a multiple of what they took in the undisturbed run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pace = 1.0
        folder.mkdir(parents=True)
        for name in PARTS:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name)
            else:
                shutil.copyfile(source, folder / name)
        (folder / "params.yaml").write_text(settings(), encoding="utf-8")
        (folder / ".gitignore").write_text("/artifacts/\n/mlflow.db*\n/mlruns/\n__pycache__\n/reports/\n")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{folder / 'src'}",
            "PYTHONUNBUFFERED": "1",
            "CI": "true",
            "DVC_NO_ANALYTICS": "true",
        }
        git = ["git", "-c", "user.name=kills", "-c", "user.email=kills@localhost"]
        for command in (
            [*git, "init", "-q"],
            [sys.executable, "-m", "dvc", "init", "--quiet"],
            [*git, "add", "-A"],
            [*git, "commit", "-qm", "a copy"],
        ):
            subprocess.run(command, cwd=folder, env=self.environment, check=True, capture_output=True)

    def module(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a module in a session of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def repro(
        self, log: IO[str], moments: dict[str, list[float]], usual: dict[str, float]
    ) -> tuple[int, Kill | None, dict[str, float]]:
        """Run `dvc repro` until it ends or is killed.

        Args:
            log: gets what it says.
            moments: of each stage, when to kill it, as shares of its time; the first is taken out when it is used. One
                that a stage was too quick for is the next stage's.
            usual: the seconds of each stage in the undisturbed run.

        Returns:
            the exit code, the kill, and the seconds of each stage that ran to its end.
        """
        process = self.module("dvc", "repro")
        assert process.stdout is not None
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
        stage, begun, share = "", 0.0, -1.0
        seconds: dict[str, float] = {}
        while True:
            wait = None
            if share >= 0:
                wait = max(0.0, begun + share * usual[stage] * self.pace - time.monotonic())
            try:
                line = lines.get(timeout=wait)
            except queue.Empty:
                return 0, self._kill(process, stage), seconds
            ended = line is None
            log.write(line or "")
            started = STARTED.search(line or "")
            if stage and (ended or started):
                seconds[stage] = time.monotonic() - begun
                if usual:
                    self.pace += NEWS * (seconds[stage] / usual[stage] - self.pace)
            if ended:
                return process.wait(), None, seconds
            if started:
                stage, begun = started[1], time.monotonic()
                if share < 0 and moments.get(stage):
                    share = moments[stage].pop(0)

    def _kill(self, process: subprocess.Popen[str], stage: str) -> Kill:
        children = psutil.Process(process.pid).children(recursive=True)
        computing = any("stages." in " ".join(_command(child)) for child in children)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=10)
        assert not alive, f"processes outlived their group: {alive}"
        resumable = any(self.folder.glob("artifacts/*/resume/**/resume.ckpt"))
        return Kill(stage, computing, resumable)

    def outputs(self) -> dict[str, dict[str, str]]:
        """Of each stage its outputs' hashes, as dvc.lock has them."""
        from ruamel.yaml import YAML

        stages = YAML(typ="safe").load(self.folder / "dvc.lock")["stages"]
        return {name: {out["path"]: out["md5"] for out in each["outs"]} for name, each in stages.items()}

    def weights(self) -> dict[str, str]:
        """The hash of every file of weights."""
        models = self.folder / "artifacts" / "tiny" / "models"
        return {str(path.relative_to(models)): sha256(path) for path in sorted(models.rglob("*.safetensors"))}

    def results(self) -> bytes:
        return (self.folder / "reports" / "tiny" / "results.jsonl").read_bytes()

    def leftovers(self) -> list[str]:
        """Unfinished files and folders."""
        return [str(path.relative_to(self.folder)) for path in self.folder.rglob(f"{TEMPORARY}*")]


def _read(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _command(process: psutil.Process) -> list[str]:
    found: list[str] = []
    with contextlib.suppress(psutil.Error):
        found = process.cmdline()
    return found


def settings() -> str:
    """What params.yaml is."""
    text = (ROOT / "presets" / "tiny.yaml").read_text(encoding="utf-8")
    for old, new in CHANGES.items():
        assert old in text, f"tiny.yaml has no {old!r} any more"
        text = text.replace(old, new)
    return text


def kind(stage: str) -> str:
    """``pretrain`` for ``pretrain@tta``."""
    return stage.partition("@")[0]


def plan(seconds: dict[str, float], kills: int, draw: random.Random) -> dict[str, list[float]]:
    """Of each stage the moments of its kills, as shares of its time.

    Each kind of stage gets one, and what is left is drawn in proportion to the seconds.
    """
    stages = list(seconds)
    moments: dict[str, list[float]] = {stage: [] for stage in stages}
    for each in dict.fromkeys(map(kind, stages)):  # well before its end: it must not be missed
        moments[draw.choice([stage for stage in stages if kind(stage) == each])].append(
            draw.uniform(0.0, 0.6)
        )
    weights = [seconds[stage] * (TRAINING if kind(stage) == "pretrain" else 1.0) for stage in stages]
    left = max(0, kills - sum(map(len, moments.values())))
    for stage in draw.choices(stages, weights, k=left):
        moments[stage].append(draw.random())
    return moments


def disturbed(
    project: Project, usual: dict[str, float], kills: int, draw: random.Random, log: IO[str]
) -> tuple[list[Kill], int]:
    """Bring the project to its end through the kills; also how often DVC's own files had to be mended.

    Args:
        usual: the seconds of each stage in the undisturbed run.
    """
    moments = plan(usual, kills, draw)
    done: list[Kill] = []
    mended = 0
    while True:
        code, kill, _ = project.repro(log, moments, usual)
        log.write(f"--- {kill or f'ended with {code}'}\n")
        log.flush()
        if kill is not None:
            done.append(kill)
            print(f"{len(done):3} {kill}", flush=True)
            continue
        if code == 0:
            return done, mended
        said = Path(log.name).read_text(encoding="utf-8").rpartition("--- Kill")[2]
        if not any(words in said for words in CUT):
            raise RuntimeError(f"`dvc repro` ended with {code}: see {log.name}")
        mended += 1
        mending = project.module("pipeline.repair_dvc_files")
        log.write(mending.communicate()[0])
        print("    DVC's files were cut short, and mended", flush=True)


def table(kills: list[Kill], equal: dict[str, bool]) -> Iterator[str]:
    """A Markdown table, one row a kind of stage."""
    counted = Counter(kind(kill.stage) for kill in kills)
    computing = Counter(kind(kill.stage) for kill in kills if kill.computing)
    yield "| stage | kills | of these while it ran | outputs |"
    yield "|:--|--:|--:|:--|"
    for stage, same in equal.items():
        yield f"| {stage} | {counted[stage]} | {computing[stage]} | {'equal' if same else 'DIFFERENT'} |"
    yield f"| all | {len(kills)} | {sum(computing.values())} | {'equal' if all(equal.values()) else 'DIFFERENT'} |"


def main(arguments: list[str] | None = None) -> int:
    """Run both pipelines and compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=60, help="how many kills are planned (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the stages and moments (1)")
    parser.add_argument("--keep", type=Path, help="work in this new folder, and leave it there")
    given = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        if given.keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
        else:
            folder = given.keep.resolve()
            folder.mkdir(parents=True)
        log = stack.enter_context(open(folder / "log", "w", encoding="utf-8"))
        return compare(folder, given.kills, given.seed, log)


def compare(folder: Path, kills: int, seed: int, log: IO[str]) -> int:
    """The runs, their comparison, and what it prints; returns the exit code."""
    began = time.monotonic()
    whole = Project(folder / "undisturbed")
    code, _, seconds = whole.repro(log, {}, {})
    if code:
        raise RuntimeError(f"the undisturbed `dvc repro` ended with {code}: see {log.name}")
    print(f"undisturbed: {len(seconds)} stages, {time.monotonic() - began:.0f} s", flush=True)
    killed = Project(folder / "killed")
    done, mended = disturbed(killed, seconds, kills, random.Random(seed), log)
    one, other = whole.outputs(), killed.outputs()
    equal: dict[str, bool] = {}
    for stage in seconds:
        same = one[stage] == other.get(stage)
        equal[kind(stage)] = equal.get(kind(stage), True) and same
    figures: dict[str, Any] = {
        "kills": len(done),
        "of these with a resume point there": sum(kill.resumable for kill in done),
        "kinds of stages hit": len({kind(kill.stage) for kill in done}),
        "kinds of stages": len(equal),
        "times that DVC's own files were cut short": mended,
        "unfinished files left": len(killed.leftovers()),
        "minutes": round((time.monotonic() - began) / 60, 1),
    }
    same_results = whole.results() == killed.results()
    same_weights = whole.weights() == killed.weights()
    print(*table(done, equal), sep="\n")
    for name, value in figures.items():
        print(f"{name}: {value}")
    print(
        f"results.jsonl ({len(whole.results().splitlines())} rows): {'equal' if same_results else 'DIFFERENT'}"
    )
    print(f"weights ({len(whole.weights())} files): {'equal' if same_weights else 'DIFFERENT'}", flush=True)
    return 0 if same_results and same_weights and all(equal.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
