"""The preset tiny for real: all that it leaves, what another clone pulls, what an edit re-runs, mistakes."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import quartet
from pipeline.settings import SYSTEMS, read_params
from pipeline.stages import ON_SETS
from quartet.results import BASELINES, read_results
from tests import quick_dvc
from tests.imports import ROOT
from tests.tiny import SHARED, Clone, finished


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """The preset, run once from nothing."""
    return finished(tmp_path_factory.mktemp("tiny"))


def test_every_table_has_rows_with_n_and_a_scale(clone: Clone) -> None:
    rows = read_results(clone.folder / "reports" / "tiny" / "results.jsonl")
    tables = {row.table for row in rows}
    reranking = {"rerank", "rerank-length", "rerank-pairs", "reference-perplexity"}
    sets = {stage.headline.table for stage in ON_SETS.values() if stage.headline is not None}
    sets |= {f"{table}-pairs" for table in sets}
    assert tables == {"training", "perplexity", "input-length", "attention"} | sets | reranking
    assert all(row.n > 0 and row.scale and row.experiment == "tiny" for row in rows)
    timed = read_results(clone.folder / "reports" / "tiny" / "times" / "timings.jsonl")
    params = read_params(clone.folder / "params.yaml")
    models = {name for section in SYSTEMS for name in getattr(params, section)}
    others = {row.model for row in rows + timed if row.table != "duration"} - models
    assert {"first-pass", "word2vec"} < others <= BASELINES, "no name is left that a model may have"
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
    """.ci/run compares its own with it, to the byte."""
    folder = Path(os.environ[SHARED])
    (folder / "results.jsonl").write_bytes(clone.results)
    shutil.copyfile(clone.folder / "dvc.lock", folder / "dvc.lock")


def test_a_second_clone_pulls_everything_and_has_nothing_to_run(
    clone: Clone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """git carries what is small, DVC's remote the rest."""
    remote = tmp_path_factory.mktemp("remote")
    clone.dvc("remote", "add", "--default", "team", str(remote))
    clone.dvc("push")
    other = Clone(tmp_path_factory.mktemp("other"))
    for name in (".dvc/config", "dvc.lock"):
        shutil.copyfile(clone.folder / name, other.folder / name)
    shutil.copytree(clone.folder / "reports", other.folder / "reports")
    other.dvc("pull")
    assert other.dvc("status").strip() == quick_dvc.UP_TO_DATE
    assert other.repro() == quick_dvc.ALWAYS
    assert other.results == clone.results
    kept = ("timings", "resume")  # no outputs of DVC's
    for path in sorted((clone.folder / "artifacts" / "tiny").rglob("*")):
        inside = path.relative_to(clone.folder)
        if path.is_file() and inside.parts[2] not in kept and path.name != ".gitignore":
            assert (other.folder / inside).read_bytes() == path.read_bytes(), inside


def test_a_fresh_clone_reports_what_it_has_run(
    clone: Clone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Git has a report with the same results, but neither MLflow's rows nor the durations of this run."""
    other = Clone(tmp_path_factory.mktemp("fresh"))
    shutil.copyfile(clone.folder / "dvc.lock", other.folder / "dvc.lock")
    shutil.copytree(clone.folder / "reports", other.folder / "reports")
    shutil.copytree(clone.folder / ".dvc" / "cache", other.folder / ".dvc" / "cache")
    (other.folder / "artifacts").mkdir()
    assert "report" in other.repro()
    assert other.results == clone.results
    assert set(rows_of_models(other)) == set(rows_of_models(clone))
    assert other.repro() == quick_dvc.ALWAYS


def test_an_edit_of_one_model_runs_only_what_hangs_on_it(clone: Clone) -> None:
    """Of the model with the fewest evaluations; slow/test_dvc_runs.py edits the other, with stand-ins for stages."""
    before = clone.results
    assert clone.repro() == quick_dvc.ALWAYS, "nothing is left to do"
    own = "recurrence: {memory: 32}\n    training: {steps: "
    clone.edit(f"{own}30", f"{own}31")
    assert clone.repro() == {
        "settings",
        "pretrain@segatron-xl",
        "perplexity@segatron-xl",
        "compare-losses",
        "report",
    }
    assert clone.results != before
    assert steps_in_mlflow(clone) == "31"
    edited = kept_by_git(clone)
    shutil.copyfile(ROOT / "presets" / "tiny.yaml", clone.folder / "params.yaml")
    clone.repro()
    assert clone.results == before, "taking the edit back brings the results back"
    assert steps_in_mlflow(clone) == "30"
    taken_back = kept_by_git(clone)
    for files, steps in ((edited, "31"), (taken_back, "30")):  # `git checkout`
        for path, content in files.items():
            path.write_bytes(content)
        clone.dvc("checkout")
        assert clone.repro() == quick_dvc.ALWAYS
        assert "side by side" in clone.run("pipeline.ui")
        assert steps_in_mlflow(clone) == steps
    assert {"tta", "ngram-3", "first-pass", "oracle"} <= set(rows_of_models(clone))


def kept_by_git(clone: Clone) -> dict[Path, bytes]:
    """The files of a run that a commit has."""
    names = ("params.yaml", "dvc.lock")
    places = [clone.folder / name for name in names] + list((clone.folder / "reports").rglob("*"))
    return {path: path.read_bytes() for path in places if path.is_file()}


def steps_in_mlflow(clone: Clone) -> str:
    """The steps of the training of segatron-xl that MLflow's view of the models shows."""
    return str(rows_of_models(clone)["segatron-xl"].data.params["models.training.steps"])


def rows_of_models(clone: Clone) -> dict[str, Any]:
    """The rows that MLflow's view of the models shows, by name."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{clone.folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("tiny")
    assert experiment is not None
    (view,) = (text for tag, text in experiment.tags.items() if tag.startswith("mlflow.sharedViewState."))
    wanted = json.loads(view)["searchFilter"]
    return {run.info.run_name: run for run in client.search_runs([experiment.experiment_id], wanted)}


@pytest.mark.skipif(SHARED in os.environ, reason=".ci/run compares its own run with the other")
def test_a_second_run_from_nothing_gives_the_same_bytes(
    clone: Clone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """And the same dvc.lock, which DVC and the quick one wrap in another way: no duration is in an output."""
    again = Clone(tmp_path_factory.mktemp("again"))
    again.repro(quick=False)
    assert again.results == clone.results
    there, here = (YAML(typ="safe", pure=True).load(one.folder / "dvc.lock") for one in (clone, again))
    assert here == there


def test_user_errors_are_one_line_and_leave_nothing(clone: Clone) -> None:
    """Each of a user's mistakes: exit code 2, one line that names the file and the place, no output."""
    rows = clone.folder / "artifacts" / "tiny" / "rows" / "rerank" / "tta.jsonl"
    lists = clone.folder / "data" / "nbest" / "sample-speech" / "dev.json"
    whole = lists.read_bytes()
    cases = []
    lists.write_bytes(whole[: len(whole) // 2])
    cases.append((clone.run("stages.nbest", "sample-speech", expect=2), ["dev.json:", "not valid JSON"]))
    lists.write_bytes(whole.replace(b'"score": -', b'"score": "-', 1))
    cases.append((clone.run("stages.nbest", "sample-speech", expect=2), ["dev.json"]))
    lists.unlink()
    cases.append((clone.run("stages.nbest", "sample-speech", expect=2), ["dev.json", "No such file"]))
    lists.write_bytes(whole)
    clone.edit("layers: 1", "layerz: 1")
    cases.append(
        (clone.run("stages.pretrain", "tta", expect=2), ["params.yaml", "models.tta.layerz", "layers"])
    )
    shutil.copyfile(ROOT / "presets" / "tiny.yaml", clone.folder / "params.yaml")
    raw = clone.folder / "artifacts" / "tiny" / "raw" / "wikipedia-sample"
    dump = max(raw.iterdir(), key=lambda path: path.stat().st_size)
    content = dump.read_bytes()
    dump.chmod(0o644)
    dump.write_bytes(content[:200_000])
    segments = clone.folder / "artifacts" / "tiny" / "segments" / "wikipedia-sample"
    kept = {path.name: path.read_bytes() for path in segments.iterdir()}
    clone.edit("limit: 20", "limit: 0")
    cases.append((clone.run("stages.segment", "wikipedia-sample", expect=2), ["dvc repro settings"]))
    clone.run("stages.settings")
    cases.append((clone.run("stages.segment", "wikipedia-sample", expect=2), [dump.name]))
    assert {path.name: path.read_bytes() for path in segments.iterdir()} == kept, "the old output stays whole"
    dump.write_bytes(content)
    shutil.copyfile(ROOT / "presets" / "tiny.yaml", clone.folder / "params.yaml")
    clone.run("stages.settings")
    for said, words in cases:
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, said
        assert "Traceback" not in said
        for word in words:
            assert word in errors[0], said
    assert rows.is_file()
