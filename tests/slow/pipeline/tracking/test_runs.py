"""MLflow, with a real database: one run a stage instance, nothing lost, nothing twice."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.tracking import repro
from pipeline.tracking.mlflow import tracking_uri
from pipeline.tracking.run_fields import commit_of_tree
from pipeline.tracking.runs import RUN_ID, tell
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
from quartet.files import sha256, write_json
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from tests.named import named

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def params(workspace: Path, request: pytest.FixtureRequest) -> Params:
    """The settings of tiny under an experiment of the test's own."""
    path = workspace / "params.yaml"
    name = request.node.name.replace("_", "-").split("[")[0][:60]
    path.write_text(path.read_text().replace("experiment: tiny", f"experiment: {name}"))
    return read_params()


def runs(params: Params) -> list[Any]:
    """Every run of the settings' experiment, the oldest first."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=tracking_uri())
    experiment = client.get_experiment_by_name(params.experiment)
    if experiment is None:
        return []
    return list(reversed(client.search_runs([experiment.experiment_id])))


def attached(run: Any) -> set[str]:
    """The names of the files attached to a run."""
    from mlflow.tracking import MlflowClient

    return {each.path for each in MlflowClient(tracking_uri=tracking_uri()).list_artifacts(run.info.run_id)}


def rows(params: Params, value: float = 0.25) -> list[Result]:
    """Two rows of rerank@tta, written where the stage would."""
    made = [
        row
        for system in ("tta", "tta/context")
        for row in EvaluatedSystem(**named(system), device="cpu", scale="tiny", seed=1).rows(
            {"wer": Measure(value, 100)},
            experiment=params.experiment,
            table="rerank",
            dataset="sample-speech",
            split="test",
        )
    ]
    write_results(Layout(params.experiment).rows("rerank", "tta"), made)
    return made


def test_a_run_holds_all_that_its_stage_left(params: Params) -> None:
    layout = Layout(params.experiment)
    with stage_run(params, "rerank", "tta"):
        rows(params)
        layout.wer_curve("tta").parent.mkdir(parents=True)
        layout.wer_curve("tta").write_text("list,weight\n")
    assert runs(params) == [], "an evaluation does not open MLflow"
    assert tell(params) == ["rerank/tta"]
    assert tell(params) == [], "a run is made once"
    (logged,) = runs(params)
    lasted = logged.info.end_time - logged.info.start_time
    assert abs(logged.data.metrics["seconds/total"] * 1000 - lasted) < 2, "the times are the stage's"
    assert logged.info.run_name == "rerank/tta"
    assert logged.info.status == "FINISHED"
    tags = logged.data.tags
    assert {key: tags[key] for key in ("stage", "variant", "model", "objective", "positions", "preset")} == {
        "stage": "rerank",
        "variant": "tta",
        "model": "tta",
        "objective": "lae",
        "positions": "sequence",
        "preset": params.experiment,
    }
    assert tags["content"] == sha256(layout.rows("rerank", "tta"))
    assert tags["commit"] and "restored" not in tags
    assert logged.data.metrics["rerank/sample-speech/test/wer"] == 0.25
    assert logged.data.metrics["rerank/sample-speech/test/wer/context"] == 0.25
    assert logged.data.params["rerank.weights"] == "exact"
    assert not any(key.startswith("models.") for key in logged.data.params)
    assert attached(logged) == {"settings.json", "tta.jsonl", "tta.csv"}


def test_the_same_result_by_other_settings_is_another_run(params: Params) -> None:
    with stage_run(params, "rerank", "tta"):
        rows(params)
    tell(params)
    other = dataclasses.replace(params, bootstrap=101)
    assert tell(other) == ["rerank/tta"]
    assert {run.data.params["bootstrap"] for run in runs(params)} == {"100", "101"}
    assert tell(params) == tell(other) == []


def test_the_runs_that_a_report_makes_are_below_its_dvc_repro(
    params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stage_run(params, "rerank", "tta"):
        rows(params)
    made = repro.Repro("machine:7:100.00", 100.0, "exp-a", "machine:8:101.00", 101.0)
    monkeypatch.setattr(repro, "current_repro", lambda: made)
    tell(params)
    child, above = sorted(runs(params), key=lambda run: run.data.tags["stage"], reverse=True)
    assert above.info.run_name == "repro 1970-01-01 00:01:40 exp-a"
    assert above.info.status == "FINISHED"
    assert child.data.tags["mlflow.parentRunId"] == above.info.run_id


def test_a_training_is_seen_while_it_runs(params: Params) -> None:
    with stage_run(params, "pretrain", "tta") as run:
        run.metric("loss", 3.0, step=1)
        (training,) = runs(params)
        assert training.info.status == "RUNNING"
        assert training.data.metrics == {"loss": 3.0}
        write_results(Layout(params.experiment).rows("pretrain", "tta"), [])
    assert tell(params) == []


def test_what_a_manifest_says_is_a_metric_or_a_tag(params: Params) -> None:
    layout = Layout(params.experiment)
    segmented = {"segmenter": "Punkt 7", "splits": {"train": {"words": 9}, "test": {"words": 1}}}
    write_json(layout.segments("wikipedia-sample") / "manifest.json", segmented)
    write_results(layout.rows("ngram", "ngram-3"), [])
    write_json(layout.ngram("ngram-3") / "manifest.json", {"made_by": "lmplz", "counted": {"tokens": 5}})
    write_json(layout.all_tasks / "manifest.json", {"lee": {"items": 7, "kind": "documents-similarity"}})
    assert tell(params) == ["segment/wikipedia-sample", "tasks", "ngram/ngram-3"]
    segment, tasks, ngram = runs(params)
    assert (segment.data.tags["segmenter"], segment.data.metrics["splits/train/words"]) == ("Punkt 7", 9)
    assert (ngram.data.tags["estimator"], ngram.data.metrics["counted/tokens"]) == ("lmplz", 5)
    assert tasks.data.metrics == {"lee/items": 7}


def test_a_models_settings_are_flat_and_its_own(params: Params) -> None:
    from pipeline.tracking.run_fields import stage_params

    flat = stage_params(params, "pretrain", "tta")
    assert flat["models.training.steps"] == "30"
    assert flat["models.positions"] == '["sequence"]'
    assert flat["models.tta.first_query"] == "position"
    assert not any("segatron" in key for key in flat)


def test_a_failed_training_leaves_a_failed_run_and_an_evaluation_none(params: Params) -> None:
    for stage in ("pretrain", "rerank"):
        with pytest.raises(InputError), stage_run(params, stage, "tta"):
            raise InputError("dev.json", "broken")
    (logged,) = runs(params)
    assert logged.info.run_name == "pretrain/tta"
    assert logged.info.status == "FAILED"
    assert logged.data.tags["error"] == "InputError: dev.json: broken"
    assert "content" not in logged.data.tags


def test_what_was_restored_without_running_is_logged_once(params: Params) -> None:
    layout = Layout(params.experiment)
    rows(params)
    write_json(layout.raw("wikipedia-sample") / "manifest.json", {"bytes": 7, "file": "x.bz2"})
    assert tell(params) == ["download/wikipedia-sample", "rerank/tta"]
    assert tell(params) == []
    download, rerank = runs(params)
    assert download.data.tags["restored"] == rerank.data.tags["restored"] == "true"
    assert download.data.metrics["bytes"] == 7
    assert rerank.data.metrics["rerank/sample-speech/test/wer"] == 0.25

    rows(params, value=0.5)
    assert tell(params) == ["rerank/tta"]
    assert len(runs(params)) == 3


def test_a_restored_training_has_its_curve(params: Params) -> None:
    layout = Layout(params.experiment)
    write_results(layout.rows("pretrain", "tta"), [])
    layout.curve("tta").parent.mkdir(parents=True)
    layout.curve("tta").write_text("seed,step,loss\n1,15,6.5\n1,30,5.25\n")
    assert tell(params) == ["pretrain/tta"]
    (logged,) = runs(params)
    assert logged.data.metrics["validation_loss/seed-1"] == 5.25
    assert attached(logged) == {"settings.json", "tta.csv", "tta.jsonl"}


def test_a_failed_run_does_not_stand_for_a_result(params: Params) -> None:
    write_results(Layout(params.experiment).rows("pretrain", "tta"), [])
    with pytest.raises(InputError), stage_run(params, "pretrain", "tta"):
        raise InputError("later", "broken")
    assert tell(params) == ["pretrain/tta"]


def test_a_resumed_training_goes_on_with_its_run(params: Params) -> None:
    """Points of its curve that a killed process did not tell are told at the end, and none twice."""
    from mlflow.tracking import MlflowClient

    layout, folder = Layout(params.experiment), Path("resume")
    loss = "validation_loss/seed-1"
    with pytest.raises(KeyboardInterrupt), stage_run(params, "pretrain", "tta", resume=folder) as run:
        run.metric(loss, 3.0, step=10)
        raise KeyboardInterrupt
    layout.curve("tta").parent.mkdir(parents=True)
    layout.curve("tta").write_text("seed,step,loss\n1,10,3.0\n1,20,2.5\n1,30,2.0\n")
    write_results(layout.rows("pretrain", "tta"), [])
    with stage_run(params, "pretrain", "tta", resume=folder) as run:
        run.metric(loss, 2.0, step=30)
    (logged,) = runs(params)
    assert logged.info.status == "FINISHED" and "error" not in logged.data.tags
    history = MlflowClient(tracking_uri()).get_metric_history(logged.info.run_id, loss)
    assert sorted((point.step, point.value) for point in history) == [(10, 3.0), (20, 2.5), (30, 2.0)]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("otherwise", ["a run that is not there", "settings"])
def test_another_run_or_other_settings_are_a_new_run(params: Params, otherwise: str) -> None:
    write_results(Layout(params.experiment).rows("pretrain", "tta"), [])
    folder = Path("resume")
    with pytest.raises(KeyboardInterrupt), stage_run(params, "pretrain", "tta", resume=folder):
        raise KeyboardInterrupt
    if otherwise == "settings":
        params = dataclasses.replace(params, threads=2)
    else:
        (folder / RUN_ID).write_text("0" * 32)
    with stage_run(params, "pretrain", "tta", resume=folder):
        pass
    assert [run.info.status for run in runs(params)][-2:] == ["FAILED", "FINISHED"]


def test_an_unusable_address_is_said(params: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nosuch://somewhere")
    with (
        pytest.raises(InputError, match="MLflow at nosuch://somewhere: cannot be reached"),
        stage_run(params, "pretrain", "tta"),
    ):
        pass


def test_outside_git_the_commit_is_unknown(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(workspace.parent))
    assert commit_of_tree() == "unknown"
    monkeypatch.setenv("PATH", "")
    assert commit_of_tree() == "unknown"


WRITER = """
import sys
from pipeline.settings import read_params
from pipeline.tracking.stage import stage_run
params = read_params()
for number in range(int(sys.argv[2])):
    with stage_run(params, "report", sys.argv[1]) as run:
        for step in range(3):
            run.metric("loss", number + step / 10, step=step)
        for index in range(20):
            run.metric(f"metric/{index}", float(index))
"""
PROCESSES, RUNS = 3, 20


def test_writers_at_the_same_time_lose_nothing(
    params: Params, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They also make the database together: it is not there before."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{workspace}/new.db")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(number), str(RUNS)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    for writer in writers:
        _, error = writer.communicate(timeout=300)
        assert writer.returncode == 0, error
    logged = runs(params)
    assert len(logged) == PROCESSES * RUNS
    assert {run.info.status for run in logged} == {"FINISHED"}
    written = {
        run.info.run_id: {
            (key, value) for key, value in run.data.metrics.items() if key.startswith("metric/")
        }
        for run in logged
    }
    assert all(found == {(f"metric/{i}", float(i)) for i in range(20)} for found in written.values())
    with closing(sqlite3.connect(workspace / "new.db")) as database:
        points = database.execute("select run_uuid, step, value from metrics where key = 'loss'").fetchall()
    assert len(points) == PROCESSES * RUNS * 3
    by_run = {run_id: [value for each, _, value in sorted(points) if each == run_id] for run_id in written}
    expected = [[n, n + 0.1, n + 0.2] for n in range(RUNS) for _ in range(PROCESSES)]
    assert sorted(by_run.values()) == sorted(expected)


def test_telemetry_is_off_and_git_is_not_needed_whoever_imports_mlflow() -> None:
    code = (
        "import pipeline.tracking.mlflow, git, os, mlflow.telemetry.client as client;"
        "print(os.environ['MLFLOW_DISABLE_TELEMETRY'], os.environ['DO_NOT_TRACK'], client.get_telemetry_client())"
    )
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK", "GIT_PYTHON_REFRESH")
    } | {"PATH": ""}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["true", "true", "None"]
