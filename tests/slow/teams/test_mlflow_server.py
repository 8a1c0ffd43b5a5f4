"""MLflow's server by one setting: several people log at once by our own code, and nothing of it is lost.

The server is docker-compose.yaml's: its command, and its environment with other addresses.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import quartet
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import SETTINGS, read_params
from pipeline.tracking.mlflow import open_store
from pipeline.tracking.runs import tell
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
from quartet.files import sha256
from tests.imports import ROOT
from tests.teams.compose import services
from tests.teams.services import KEYS, lacks_postgresql, lacks_s3, mlflow_server, object_store, postgresql
from tests.teams.writer import LISTS, MODEL, PEOPLE, numbers, points


@dataclass(frozen=True)
class Team:
    """What was logged, and where.

    Attributes:
        folders: of each person's work.
        client: MLflow's, of the server.
        runs: of their experiment.
        stop: ends the server.
    """

    address: str
    params: Params
    folders: list[Path]
    client: Any
    runs: list[Any]
    stop: Callable[[], None]

    def of(self, number: int, stage: str) -> Any:
        """The run of a person's stage: by the content of its record."""
        content = sha256(Layout(self.params.experiment, self.folders[number]).rows(stage, MODEL))
        found = [run for run in self.runs if run.data.tags["stage"] == stage]
        if stage == "pretrain":  # the rows are empty, the last point is a person's own
            loss = points(number)[-1][1]
            (run,) = [run for run in found if run.data.metrics["validation_loss/seed-1"] == loss]
        else:
            (run,) = [run for run in found if run.data.tags["content"] == content]
        return run


def start(kind: str, folder: Path, beside: contextlib.ExitStack, itself: contextlib.ExitStack) -> str:
    """Start the server of docker-compose.yaml, with an object store where there is one; its address.

    Args:
        beside, itself: what ends them.
    """
    service = services()["mlflow"]
    settings = {name: value for name, value in service["environment"].items() if "${" not in value}
    if kind == "postgresql":
        settings["MLFLOW_BACKEND_STORE_URI"] = beside.enter_context(postgresql())
    else:
        settings["MLFLOW_BACKEND_STORE_URI"] = f"sqlite:///{folder / 'server.db'}"
    if lacks_s3():
        settings["MLFLOW_ARTIFACTS_DESTINATION"] = str(folder / "files")
    else:
        store = beside.enter_context(object_store(folder / "s3", ["mlflow"]))
        settings |= {"MLFLOW_S3_ENDPOINT_URL": store, **KEYS}
    return itself.enter_context(mlflow_server(folder / "server", service["command"], settings))


@pytest.fixture(scope="module", params=["postgresql", "sqlite"])
def team(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """Three people who log into a server at the same time, each from a `dvc repro` of their own."""
    if request.param == "postgresql" and (reason := lacks_postgresql()):
        pytest.skip(reason)
    if request.param == "sqlite" and not lacks_postgresql():
        pytest.skip("the same is tried with PostgreSQL")
    from mlflow import MlflowClient

    folder = tmp_path_factory.mktemp("team")
    text = (ROOT / "presets" / "tiny.yaml").read_text(encoding="utf-8")
    with contextlib.ExitStack() as stack:
        itself = stack.enter_context(contextlib.ExitStack())
        address = start(request.param, folder, stack, itself)
        folders, writers = [], []
        for number in PEOPLE:
            folders.append(folder / f"person-{number}")
            folders[-1].mkdir()
            (folders[-1] / "params.yaml").write_text(text.replace("experiment: tiny", "experiment: team"))
            writers.append(write(number, folders[-1], address))
        said = [writer.communicate(timeout=600)[0] for writer in writers]
        assert [writer.returncode for writer in writers] == [0 for _ in PEOPLE], "\n".join(said)
        client = MlflowClient(address)
        experiment = client.get_experiment_by_name("team")
        assert experiment is not None
        runs = list(client.search_runs([experiment.experiment_id]))
        yield Team(address, read_params(folders[0] / "params.yaml"), folders, client, runs, itself.close)


def write(number: int, folder: Path, address: str) -> subprocess.Popen[str]:
    """Start a person's `dvc repro`, here a shell, and the stages below it."""
    environment = {
        **os.environ,
        "MLFLOW_TRACKING_URI": address,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "OMP_NUM_THREADS": "1",
        "CI": "true",
    }
    command = f"DVC_STAGE=pretrain@tta {sys.executable} -m tests.teams.writer {number}; exit $?"
    return subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_every_run_is_there_and_below_its_repro(team: Team) -> None:
    assert {run.info.status for run in team.runs} == {"FINISHED"}
    parents = {run.info.run_id for run in team.runs if run.data.tags["stage"] == "repro"}
    assert len(parents) == len(PEOPLE)
    assert len(team.runs) == 3 * len(PEOPLE)
    for number in PEOPLE:
        own = {team.of(number, stage).data.tags["mlflow.parentRunId"] for stage in ("pretrain", "rerank")}
        assert len(own) == 1
        assert own <= parents


@pytest.mark.parametrize("number", PEOPLE)
def test_every_number_is_there(team: Team, number: int) -> None:
    training, reranking = (team.of(number, stage) for stage in ("pretrain", "rerank"))
    history = team.client.get_metric_history(training.info.run_id, "validation_loss/seed-1")
    assert sorted((point.step, point.value) for point in history) == points(number)
    logged = reranking.data.metrics
    assert {name: logged[name] for name in numbers(number)} == numbers(number)
    assert logged[f"rerank/{LISTS}/test/wer"] == 0.125 * (number + 1)
    assert training.data.params["models.layers"] == "1"
    read = {each.dataset.name for each in training.inputs.dataset_inputs}
    assert read == {"wikipedia-sample/wordpiece-1k train", "wikipedia-sample/wordpiece-1k valid"}


@pytest.mark.parametrize("number", PEOPLE)
def test_every_file_is_there(team: Team, number: int, tmp_path: Path) -> None:
    folder = team.folders[number]
    layout = Layout(team.params.experiment, folder)
    kept = {
        "pretrain": [folder / SETTINGS, layout.curve(MODEL), layout.rows("pretrain", MODEL)],
        "rerank": [folder / SETTINGS, layout.rows("rerank", MODEL)],
    }
    for stage, paths in kept.items():
        run = team.of(number, stage).info.run_id
        assert {each.path for each in team.client.list_artifacts(run)} == {path.name for path in paths}
        (tmp_path / stage).mkdir()
        team.client.download_artifacts(run, "", str(tmp_path / stage))
        for path in paths:
            assert (tmp_path / stage / path.name).read_bytes() == path.read_bytes()


def test_every_model_is_a_version_that_scores_as_its_folder_does(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    versions = {version.run_id: version for version in team.client.search_model_versions("name = 'team.tta'")}
    assert sorted(int(version.version) for version in versions.values()) == [1, 2, 3]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address)
    mlflow.set_tracking_uri(team.address)
    scores = set()
    for number in PEOPLE:
        version = versions[team.of(number, "pretrain").info.run_id]
        opened = mlflow.pyfunc.load_model(f"models:/team.tta/{version.version}")
        ours = quartet.load(Layout("team", team.folders[number]).model(MODEL, team.params, 1)).score(
            ["the river"]
        )
        assert opened.predict(["the river"])["score"].tolist() == pytest.approx(ours, abs=1e-6)
        scores.add(round(float(ours[0]), 4))
    assert len(scores) == len(PEOPLE), "each has trained another model"


def test_the_report_logs_what_is_missing_and_nothing_else(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address)
    monkeypatch.chdir(team.folders[0])
    assert tell(team.params) == []
    path = Layout(team.params.experiment).rows("rerank", MODEL)
    path.write_text(path.read_text(encoding="utf-8").replace("0.125", "0.25"), encoding="utf-8")
    assert tell(team.params) == [f"rerank/{MODEL}"]
    assert tell(team.params) == []


def test_a_wrong_address_is_said_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://anna:secret@127.0.0.1:9")
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        open_store("team")
    assert str(caught.value).startswith("MLflow at http://127.0.0.1:9: does not answer; see whether it runs")
    assert time.monotonic() - started < 60


def test_a_server_that_is_lost_during_a_run_is_one_line(
    team: Team, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """After MLflow's own tries, here one: the last test, for it ends the server."""
    monkeypatch.chdir(team.folders[0])
    monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address.replace("//", "//anna:secret@"))
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    with (
        pytest.raises(InputError, match=f"MLflow at {team.address}: does not answer"),
        stage_run(team.params, "pretrain", MODEL) as run,
    ):
        run.metric("loss", 3.0)
        team.stop()
        run.metric("loss", 2.0, step=1)
    assert "secret" not in "".join(capfd.readouterr())
