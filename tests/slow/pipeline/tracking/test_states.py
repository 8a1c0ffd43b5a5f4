"""What MLflow shows after each of DVC's ways to bring another state back, with a pipeline of two stages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.settings import read_params
from pipeline.tracking.mlflow import open_store
from tests.imports import ROOT
from tests.pipeline.tracking.test_models import found_by, rows_in_mlflow

PIPELINE = """
stages:
  settings:
    cmd: python settings.py
    deps: [params.yaml]
    outs: [{artifacts/settings.json: {persist: true}}]
  report:
    cmd: python report.py
    params: [{artifacts/settings.json: [models]}]
    outs: [{reports/states/results.jsonl: {cache: false, persist: true}}, artifacts/states/reported.json]
"""
SETTINGS = """
from pipeline import settings
from pipeline.tracking.stage import note_experiment
params = settings.read_params()
settings.write(params)
note_experiment(params)
"""
#: The figure is made of the settings, as every figure is.
REPORT = """
from pipeline.layout import Layout
from pipeline.settings import load
from pipeline.tracking.runs import report_rows, tell
from quartet.files import write_json
from quartet.results import write_results
from tests.pipeline.tracking.test_models import row
params = load()
tta = params.models["tta"]
rows = [  # in another order than that of results.jsonl
    *row(params, "rerank", "tta", "wer", tta.layers + tta.training.steps / 1000),
    *row(params, "perplexity", "tta", "loss", tta.layers),
]
write_results(Layout("states").results, rows)
write_json("artifacts/states/reported.json", str(rows))
tell(params, report_rows(params))
"""


class Project:
    """A repository with git, DVC and a database of runs of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = (ROOT / "presets" / "tiny.yaml").read_text().replace("experiment: tiny", "experiment: states")
        files = {"dvc.yaml": PIPELINE, "settings.py": SETTINGS, "report.py": REPORT, "params.yaml": text}
        for name, content in {**files, ".gitignore": "mlflow.db*\nmlruns\nartifacts\n"}.items():
            (folder / name).write_text(content)
        (folder / "artifacts").mkdir()
        self.said("git", "init", "--quiet")
        self.said("dvc", "init", "--quiet")
        self.said("dvc", "repro", "--quiet")
        self.commit()

    def said(self, *command: str) -> str:
        """What a command says on both streams."""
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def commit(self) -> None:
        """Commit everything that git does not ignore."""
        self.said("git", "add", "--all")
        self.said("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--message=x")

    def shown(self) -> str:
        """The layers of tta in MLflow's view of the models, when somebody asks for it."""
        assert "side by side" in self.said(sys.executable, "-m", "pipeline.ui")
        return str(rows_in_mlflow(read_params())["tta"].data.params["models.layers"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DVC_NO_ANALYTICS", "true")
    return Project(tmp_path)


def test_the_state_in_the_repository_is_shown_however_it_came_there(project: Project) -> None:
    assert project.shown() == "1"
    project.said("dvc", "exp", "run", "-S", "models.tta.layers=2", "-n", "two")
    assert project.shown() == "2"
    project.said("git", "checkout", "--quiet", ".")
    project.said("dvc", "checkout", "--quiet")
    assert "up to date" in project.said("dvc", "repro")
    assert project.shown() == "1", "docs/ablations.md: Return to main"
    project.said("dvc", "exp", "apply", "two")
    assert project.shown() == "2"
    project.said("git", "reset", "--quiet", "--hard")
    project.said("dvc", "checkout", "--quiet")
    assert project.shown() == "1"


def test_a_sweep_has_a_row_for_each_cell(project: Project) -> None:
    """Among them one of the repository's own settings, and one of earlier ones."""
    path = project.folder / "params.yaml"
    path.write_text(path.read_text().replace("layers: 1", "layers: 2", 1))
    project.said("dvc", "repro", "--quiet")
    project.commit()
    store = open_store("states")
    before = {run.info.run_id for run in store.search("tags.stage = 'model'")}
    project.said("dvc", "exp", "run", "--queue", "-n", "sweep", "-S", "models.tta.layers=1,2,3")
    project.said("dvc", "exp", "run", "--run-all")
    found = found_by(read_params(), "tags.dvc.experiment LIKE 'sweep-%'")
    assert found == {"layers=1 tta": "1", "tta": "2", "layers=3 tta": "3"}
    assert len({run.info.run_id for run in store.search("tags.stage = 'model'")} - before) == 1
    assert project.shown() == "2", "what ran beside the repository is not shown"
