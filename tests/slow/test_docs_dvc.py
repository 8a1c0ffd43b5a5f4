"""What README.md and docs/ ask DVC of a repository, it answers: metrics, settings, plots, the graph."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from pipeline.settings import read_params
from tests import quick_dvc
from tests.committed import copy_project
from tests.imports import ROOT
from tests.test_docs import of


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of the project, committed, without artifacts."""
    folder = tmp_path_factory.mktemp("docs") / "quartet"
    copy_project(folder)
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    commit = (*who, "commit", "-q", "--allow-empty", "-m")
    experiment = ("tag", "six-layers")  # in the place of the one that docs/ablations.md makes
    for arguments in (("init", "-q"), (*commit, "nothing"), ("add", "-A"), (*commit, "all"), experiment):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder


def dvc(folder: Path, *arguments: str) -> str:
    """What a command of DVC prints; it must neither fail nor complain."""
    done = subprocess.run(
        [*quick_dvc.COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not re.search("error|warning", done.stderr, re.IGNORECASE), done.stderr
    return done.stdout


def test_what_dvc_is_asked_it_answers(copy: Path) -> None:
    for one in of("dvc", run=True):
        dvc(copy, *one.words[1:])


def test_metrics_are_a_line_a_system(copy: Path) -> None:
    head, *lines = dvc(copy, "metrics", "show", "--md").splitlines()
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    assert {"loss.test", "loss.valid", "wer.sample-speech"} <= set(columns)
    assert len(columns) < 15
    systems = {Path(line.split("|")[1].strip()).stem for line in lines[1:] if line.startswith("|")}
    assert set(read_params(ROOT / "presets" / "sample.yaml").models) <= systems


def test_an_edit_shows_in_the_difference_of_settings(copy: Path) -> None:
    path = copy / "params.yaml"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("    layers: 2\n", "    layers: 6\n", 1), encoding="utf-8")
        assert "models.unilm.layers" in dvc(copy, "params", "diff")
    finally:
        path.write_text(text, encoding="utf-8")


def test_plots_have_titles_axes_and_a_line_a_system(copy: Path) -> None:
    dvc(copy, "plots", "show", "--out", "plots")
    page = (copy / "plots" / "index.html").read_text(encoding="utf-8")
    specs = [json.loads(found) for found in re.findall(r"var spec = (\{.*\});", page)]
    assert {spec["title"]["text"] for spec in specs} >= {"Validation loss while training"}
    for spec in specs:
        encoding = spec["spec"]["encoding"]
        values = spec["data"]["values"]
        for axis in ("x", "y"):
            assert encoding[axis]["title"]
            assert encoding[axis]["field"] in values[0]
        assert {value["rev"] for value in values} == {"workspace"}
        assert len({value[encoding["color"]["field"]] for value in values}) > 1
