"""The preset tiny for real: raw text to report."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import quartet
from quartet.results import read_results
from tests.tiny import SHARED, Clone, finished


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """The preset, run once from nothing."""
    return finished(tmp_path_factory.mktemp("tiny"))


def test_every_table_has_rows_with_n_and_a_scale(clone: Clone) -> None:
    rows = read_results(clone.folder / "reports" / "tiny" / "results.jsonl")
    tables = {row.table for row in rows}
    reranking = {"rerank", "rerank-length", "rerank-pairs", "reference-perplexity"}
    sets = {"sts", "wordsim", "classification", "glue", "nli", "squad", "race", "blimp"}
    assert tables == {"training", "perplexity", "input-length", "attention"} | sets | reranking
    assert all(row.n > 0 and row.scale and row.experiment == "tiny" for row in rows)
    timed = read_results(clone.folder / "reports" / "tiny" / "times" / "timings.jsonl")
    assert {row.table for row in timed} == {"runtime", "duration"}
    threads = {
        row.system: bool(re.search(r"\(\d+ thread", row.device)) for row in timed if row.split == "total"
    }
    assert threads["pretrain"] and not threads["download"], (
        "what has not computed with torch has no threads of its"
    )
    folder = clone.folder / "reports" / "tiny"
    text = "".join((folder / name).read_text(encoding="utf-8") for name in ("index.html", "tables.html"))
    for picture in ("training", "rerank", "sts", "attention"):
        assert f'<figure id="figure-{picture}">' in text
        assert (clone.folder / "reports" / "tiny" / "figures" / f"{picture}.svg").stat().st_size > 1000


def test_model_folders_hold_what_load_opens_and_no_more(clone: Clone) -> None:
    folder = clone.folder / "artifacts" / "tiny" / "models" / "tta"
    assert sorted(path.name for path in folder.iterdir()) == [
        "best.safetensors",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert quartet.load(folder).score(["a short sentence"])[0] < 0


def test_mlflow_has_one_finished_run_a_stage_instance(clone: Clone) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{clone.folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("tiny")
    assert experiment is not None
    every = client.search_runs([experiment.experiment_id])
    assert {run.info.status for run in every} == {"FINISHED"}
    runs = [run for run in every if run.data.tags["stage"] not in ("repro", "model")]
    names = [run.info.run_name for run in runs]
    locked = (clone.folder / "dvc.lock").read_text(encoding="utf-8")
    stages = [
        line.strip().removesuffix(":") for line in locked.splitlines() if line[:2] == "  " and line[2] != " "
    ]
    tracked = {name.replace("@", "/") for name in stages} - {"code", "settings", "runtime-inputs/tta"}
    assert sorted(names) == sorted(tracked)
    (parent,) = [run for run in every if run.data.tags["stage"] == "repro"]
    assert {run.data.tags["mlflow.parentRunId"] for run in runs} == {parent.info.run_id}
    models = {run.info.run_name: run for run in every if run.data.tags["stage"] == "model"}
    assert {"tta", "segatron-xl", "first-pass", "oracle"} <= set(models)
    assert "loss wikipedia-sample" in models["tta"].data.metrics
    assert {version.run_id for version in client.search_model_versions("name = 'tiny.tta'")} == {
        run.info.run_id for run in runs if run.info.run_name == "pretrain/tta"
    }
    assert "| `tta` | lae |" in experiment.tags["mlflow.note.content"]
    tta = next(run for run in runs if run.info.run_name == "pretrain/tta")
    assert tta.data.params["models.layers"] == "1"
    assert tta.data.tags["objective"] == "lae"
    assert "validation_loss/seed-1" in tta.data.metrics
    attached = {file.path for file in client.list_artifacts(tta.info.run_id)}
    assert {"settings.json", "tta.csv", "tta.jsonl"} <= attached


@pytest.mark.skipif(SHARED not in os.environ, reason="there is no other run to compare with")
def test_the_run_is_left_for_others_to_compare(clone: Clone) -> None:
    """.ci/run compares its own with it, to the byte; tests/slow/test_tiny.py runs the preset twice."""
    folder = Path(os.environ[SHARED])
    (folder / "results.jsonl").write_bytes(clone.results)
    shutil.copyfile(clone.folder / "dvc.lock", folder / "dvc.lock")
