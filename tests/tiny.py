"""A copy of the project with the preset tiny run in it, once for all tests that look at the run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import quick_dvc
from tests.imports import ROOT

PARTS = ("dvc.yaml", ".dvcignore", "pipeline", "stages", "src", "data")
#: A folder for what one run of tests leaves to the next: .ci/run names it.
SHARED = "QUARTET_TINY_RUN"


class Clone:
    """A copy of the project that runs the preset tiny with its own database of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in PARTS:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(source, folder / name)
        shutil.copyfile(ROOT / "presets" / "tiny.yaml", folder / "params.yaml")
        self.dvc("init", "--no-scm", "--quiet")

    @classmethod
    def of(cls, folder: Path) -> Clone:
        """One that was made before."""
        found = cls.__new__(cls)
        found.folder = folder
        return found

    @property
    def environment(self) -> dict[str, str]:
        """Of its commands: its own library, and its own database."""
        own = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.folder / "src"),
            "DVC_NO_ANALYTICS": "true",
            "CI": "true",
        }
        return {key: value for key, value in os.environ.items() if key != "MLFLOW_TRACKING_URI"} | own

    def run(self, *arguments: str, expect: int = 0) -> str:
        """What a module's command line says, on both streams."""
        return self.said(sys.executable, "-m", *arguments, expect=expect)

    def said(self, *command: str, expect: int = 0) -> str:
        """What a command says, on both streams."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout + done.stderr

    def dvc(self, *arguments: str) -> str:
        """What a command of DVC says."""
        return quick_dvc.said(*arguments, folder=self.folder, environment=self.environment)

    def repro(self, *, quick: bool = True) -> set[str]:
        """Bring everything up to date, by DVC as users have it or a quick one; returns the stages that ran."""
        said = self.dvc("repro") if quick else self.run("dvc", "repro")
        return {line.split("'")[1] for line in said.splitlines() if line.startswith("Running stage")}

    def edit(self, old: str, new: str) -> None:
        path = self.folder / "params.yaml"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) >= 1, old
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    @property
    def results(self) -> bytes:
        return (self.folder / "reports" / "tiny" / "results.jsonl").read_bytes()


def finished(folder: Path) -> Clone:
    """The preset, run from nothing; where QUARTET_TINY_RUN names a folder, there, or as it was left there."""
    place = Path(os.environ.get(SHARED) or folder) / "clone"
    if (place / "reports" / "tiny").is_dir():
        return Clone.of(place)
    shutil.rmtree(place, ignore_errors=True)  # of a run that was broken off
    place.mkdir()
    made = Clone(place)
    assert "report" in made.repro(quick=False)
    return made
