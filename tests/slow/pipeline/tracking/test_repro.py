"""The stages of one `dvc repro` have one run above them, and the runs of the dead are closed."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pipeline.settings import read_params
from pipeline.tracking import repro
from pipeline.tracking.mlflow import DATABASE, ExperimentStore, PatientClient, open_store, tracking_uri
from pipeline.tracking.run_fields import ArtifactInput
from quartet.errors import InputError
from tests.imports import ROOT

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

#: Does what DVC does with a stage: a shell with the stage's address in DVC_STAGE, one stage after the other.
DVC = """
import os, pathlib, subprocess, sys
for stage in sys.argv[1:]:
    subprocess.run(f'{sys.executable} -c "$STAGE"; true', shell=True, env={**os.environ, "DVC_STAGE": stage})
    pathlib.Path(f"{stage}.ended").touch()
"""
STAGE = """
from pipeline.settings import read_params
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
import os, pathlib, signal, time
with stage_run(read_params(), "report", os.environ["DVC_STAGE"]):
    if os.environ["DVC_STAGE"] == "mistaken":
        raise InputError("x", "wrong")
    if os.environ["DVC_STAGE"] == "later":
        while not pathlib.Path("mistaken.ended").exists():
            time.sleep(0.01)
    if os.environ["DVC_STAGE"] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
"""


#: What `make repro` does: commands of DVC side by side, which belong to it.
MAKE = """
import os, subprocess, sys
together = {**os.environ, "QUARTET_REPRO": str(os.getpid())}
running = [subprocess.Popen([sys.executable, "-c", os.environ["DVC"], stage], env=together) for stage in sys.argv[1:]]
sys.exit(sum(one.wait() for one in running))
"""


@pytest.fixture
def store(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> ExperimentStore:
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("experiment: tiny", f"experiment: repro-{uuid.uuid4().hex[:8]}"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    monkeypatch.setenv("STAGE", STAGE)
    monkeypatch.delenv("DVC_STAGE", raising=False)
    return open_store(read_params().experiment)


def patient(store: ExperimentStore) -> PatientClient:
    """The client as what it is."""
    return cast("PatientClient", store.client)


def dvc(*stages: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", DVC, *stages], env={**os.environ, **environment}, stderr=subprocess.DEVNULL
    )


def runs(store: ExperimentStore) -> list[Any]:
    """The oldest first."""
    return list(reversed(store.client.search_runs([store.experiment])))


def test_stages_of_one_repro_have_one_parent_and_those_of_another_another(store: ExperimentStore) -> None:
    both = dvc("sts", "glue"), dvc("nli", DVC_EXP_NAME="wide-tta")
    assert [each.wait(timeout=300) for each in both] == [0, 0]
    found = {run.data.tags.get("variant", run.info.run_name): run for run in runs(store)}
    first, second = (found[name].data.tags["mlflow.parentRunId"] for name in ("sts", "nli"))
    assert found["glue"].data.tags["mlflow.parentRunId"] == first != second
    parents = {run.info.run_id: run for run in runs(store) if run.data.tags["stage"] == repro.STAGE}
    assert set(parents) == {first, second}
    assert {run.info.status for run in parents.values()} == {"FINISHED"}
    assert parents[first].info.run_name.startswith("repro 2")
    assert parents[second].info.run_name.endswith(" wide-tta")
    assert parents[second].data.tags["dvc.experiment"] == "wide-tta"
    assert parents[first].data.tags["preset"] == read_params().experiment


def test_a_failed_stage_fails_its_repro_and_a_killed_one_is_closed_by_the_next(
    store: ExperimentStore,
) -> None:
    assert dvc("mistaken").wait(timeout=300) == 0
    assert {run.info.status for run in runs(store)} == {"FAILED"}
    assert dvc("killed").wait(timeout=300) == 0
    assert sorted(run.info.status for run in runs(store)) == ["FAILED", "FAILED", "RUNNING", "RUNNING"]
    assert dvc("sts").wait(timeout=300) == 0
    assert sorted(run.info.status for run in runs(store)) == [
        *("FAILED", "FAILED", "FINISHED", "FINISHED", "KILLED", "KILLED")
    ]


def make(*stages: str) -> int:
    """The code with which a `make repro` ends that runs these stages at once."""
    done = subprocess.run(
        [sys.executable, "-c", MAKE, *stages],
        env={**os.environ, "DVC": DVC},
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=300,
    )
    return done.returncode


def test_stages_side_by_side_have_one_parent(store: ExperimentStore) -> None:
    assert make("sts", "glue", "nli") == 0
    found = runs(store)
    above = [run for run in found if run.data.tags["stage"] == repro.STAGE]
    assert [run.info.status for run in above] == ["FINISHED"]
    below = [run for run in found if run.data.tags["stage"] != repro.STAGE]
    assert [run.data.tags["mlflow.parentRunId"] for run in below] == [above[0].info.run_id] * 3


def test_a_failed_stage_fails_them_all_though_one_beside_it_ends_well(store: ExperimentStore) -> None:
    make("mistaken", "later")
    found = {run.data.tags.get("variant", repro.STAGE): run.info for run in runs(store)}
    assert {name: info.status for name, info in found.items()} == {
        "mistaken": "FAILED",
        "later": "FINISHED",
        repro.STAGE: "FAILED",
    }
    assert found["later"].end_time > found["mistaken"].end_time, "else nothing was tried"


def test_who_is_alive_is_left_alone(store: ExperimentStore) -> None:
    mine = store.create("mine", {"process": repro.own_process()})
    elsewhere = store.create("elsewhere", {"process": "another-machine:1:1.00"})
    reused = store.create("reused", {"process": repro.own_process().rpartition(":")[0] + ":1.00"})
    repro.mark_killed_runs(store)
    status = {run.info.run_id: run.info.status for run in runs(store)}
    assert status == {mine: "RUNNING", elsewhere: "RUNNING", reused: "KILLED"}


def test_without_dvc_there_is_no_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DVC_STAGE", raising=False)
    assert repro.current_repro() is None


def test_experiments_in_copies_of_the_repository_log_into_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    copy = tmp_path / ".dvc" / "tmp" / "exps" / "tmp12"
    copy.mkdir(parents=True)
    monkeypatch.chdir(copy)
    assert tracking_uri() == f"sqlite:///{tmp_path}/{DATABASE}"
    monkeypatch.chdir(tmp_path)
    assert tracking_uri() == f"sqlite:///{DATABASE}"


def test_a_full_disk_is_one_line(store: ExperimentStore) -> None:
    def full() -> None:
        raise RuntimeError("(sqlite3.OperationalError) database or disk is full")

    with pytest.raises(InputError, match=r"MLflow at sqlite.*: No space left on device"):
        patient(store).again(full)


def test_who_finds_the_database_locked_waits(store: ExperimentStore) -> None:
    left = [3]

    def locked() -> str:
        if left[0]:
            left[0] -= 1
            raise RuntimeError("(sqlite3.OperationalError) database is locked")
        return "done"

    assert patient(store).again(locked) == "done"


@pytest.mark.parametrize("always", [False, True])
def test_datasets_that_another_run_adds_in_between_are_found_the_next_time(
    store: ExperimentStore, monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    """MLflow's server answers so where several runs name the same new dataset at once."""
    from mlflow.exceptions import MlflowException

    left = [2]
    client = patient(store).impatient
    log = client.log_inputs

    def added_in_between(run_id: str, datasets: list[DatasetInput]) -> None:
        if always or left[0]:
            left[0] -= 1
            raise MlflowException("(sqlite3.IntegrityError) UNIQUE constraint failed: datasets.name")
        log(run_id, datasets)

    monkeypatch.setattr(client, "log_inputs", added_in_between)
    monkeypatch.setattr("pipeline.tracking.mlflow.PATIENCE", 0.3 if always else 60.0)
    run = store.create("pretrain/tta", {})
    found = [
        ArtifactInput(name, name, "0" * 64, Path("encoded"), {"tokens": 1}) for name in ("train", "valid")
    ]
    with pytest.raises(MlflowException, match="UNIQUE") if always else nullcontext():
        store.inputs(run, found)
    read = {each.dataset.name for each in store.client.get_run(run).inputs.dataset_inputs}
    assert read == (set() if always else {"train", "valid"})
