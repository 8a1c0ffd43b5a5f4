"""The reference pack: what it takes in, what it leaves out, and what it says of a difference."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import USER_ERROR
from quartet.files import read_json
from tests.reference_pack import BLANK, main

#: A file of each kind that a pack holds.
HELD = (
    "reports/tiny/results.jsonl",
    "artifacts/tiny/rows/sts/tta.jsonl",
    "artifacts/tiny/rescored/tta/lists.test.tta.seed-1.jsonl",
    "artifacts/tiny/models/tta/model.safetensors",
    "artifacts/tiny/models/tta/seed-2/model.safetensors",
    "artifacts/tiny/tokenizers/words/tokenizer.json",
    "artifacts/tiny/encoded/books/words/train.arrow",
)
#: What differs from run to run, or belongs to another experiment.
LEFT_OUT = (
    "artifacts/tiny/timings/sts/tta.jsonl",
    "artifacts/tiny/notes/sts/tta.json",
    "artifacts/tiny/resume/tta/seed-1/resume.ckpt",
    "artifacts/tiny/rows/.gitignore",
    "artifacts/other/rows/sts/tta.jsonl",
    "reports/tiny/times/timings.jsonl",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (*HELD, *LEFT_OUT):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def call(root: Path, action: str, *more: str, experiment: str = "tiny") -> int:
    return main([action, str(root / "pack.json"), "--experiment", experiment, "--root", str(root), *more])


def test_a_pack_holds_what_equal_code_makes_equal(root: Path) -> None:
    assert call(root, "write") == 0
    assert sorted(read_json(root / "pack.json")["files"]) == sorted(HELD)
    for name in LEFT_OUT:
        (root / name).write_text("another")
    assert call(root, "check") == 0


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize(
    ("how", "change"),
    [
        ("changed", lambda path: path.write_text("another")),
        ("gone", lambda path: path.unlink()),
        ("new", lambda path: path.with_name(f"new-{path.name}").write_text("")),
    ],
)
def test_every_difference_is_named(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, how: str, change: Callable[[Path], object]
) -> None:
    call(root, "write")
    capsys.readouterr()
    change(root / name)
    alone = how == "new" and name == HELD[0]  # beside the results a report has other files
    assert call(root, "check") == (0 if alone else 1)
    said = capsys.readouterr().out.splitlines()
    path = Path(name)
    named = path.with_name(f"new-{path.name}") if how == "new" else path
    assert said[:-1] == ([] if alone else [f"{how}: {named}"])


def log(runs: list[dict[str, Any]]) -> str:
    """Leave these runs alone in an experiment of the tests' database; returns its address."""
    from mlflow import MlflowClient

    uri = os.environ["MLFLOW_TRACKING_URI"]
    client = MlflowClient(uri)
    found = client.get_experiment_by_name("packed")
    place = found.experiment_id if found else client.create_experiment("packed")
    for earlier in client.search_runs([place]):
        client.delete_run(earlier.info.run_id)
    for run in runs:
        run_id = client.create_run(place, run_name=run["name"], tags=run["tags"]).info.run_id
        client.log_param(run_id, "sts.bootstrap", 100)
        client.log_metric(run_id, "sts/lee/test/pearson", run["value"])
        client.log_metric(run_id, "seconds/total", run["seconds"])
        client.set_terminated(run_id)
    return uri


def run(name: str, value: float, seconds: float, **tags: str) -> dict[str, Any]:
    return {"name": name, "value": value, "seconds": seconds, "tags": tags}


def test_runs_are_equal_but_for_ids_and_times(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "artifacts" / "packed").mkdir()

    def with_runs(action: str, *runs: dict[str, Any]) -> int:
        return call(root, action, "--tracking-uri", log(list(runs)), experiment="packed")

    stage = run("sts/tta", 0.5, 3.0, process="host:1", commit="a", stage="sts")
    assert with_runs("write", stage, run("repro 2026-01-01 10:00:00", 0.25, 1.0)) == 0
    lines = read_json(root / "pack.json")["runs"]
    assert {line for line in lines if not line.startswith("repro") and "mlflow." not in line} == {
        "sts/tta | status | FINISHED",
        f"sts/tta | tag | commit | {BLANK}",
        f"sts/tta | tag | process | {BLANK}",
        "sts/tta | tag | stage | sts",
        "sts/tta | param | sts.bootstrap | 100",
        "sts/tta | metric | sts/lee/test/pearson | 0.5",
        f"sts/tta | metric | seconds/total | {BLANK}",
    }
    assert f"repro {BLANK} {BLANK} | status | FINISHED" in lines
    again = run("sts/tta", 0.5, 9.0, process="host:2", commit="b", stage="sts")
    assert with_runs("check", run("repro 2026-02-02 11:11:11", 0.25, 4.0), again) == 0
    capsys.readouterr()
    assert with_runs("check", stage, run("repro 2026-01-01 10:00:00", 0.75, 1.0)) == 1
    assert capsys.readouterr().out.splitlines()[:-1] == [
        f"gone from MLflow: repro {BLANK} {BLANK} | metric | sts/lee/test/pearson | 0.25",
        f"new in MLflow: repro {BLANK} {BLANK} | metric | sts/lee/test/pearson | 0.75",
    ]
    assert call(root, "check", experiment="packed") == USER_ERROR, "the pack has runs"


@pytest.mark.parametrize(
    "arguments",
    [
        ["write", "--experiment", "absent"],
        ["check", "--experiment", "other"],
        ["write", "--tracking-uri", "sqlite:///absent.db"],
        ["check", "--tracking-uri", "sqlite:///absent.db"],
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.chdir(root)
    call(root, "write")
    capsys.readouterr()
    action, *more = arguments
    experiment = more.pop(1) if more[0] == "--experiment" else "tiny"
    assert call(root, action, *(more if len(more) > 1 else []), experiment=experiment) == USER_ERROR
    said = capsys.readouterr()
    assert said.err.startswith("error: ") and said.err.count("\n") == 1
    assert not (root / "absent.db").exists()
