"""The run above the stages of one `dvc repro`: found again by its process, and closed when that is gone."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Any

import psutil

from pipeline.tracking.mlflow import ExperimentStore, open_store
from pipeline.tracking.repro import Repro, mark_killed_runs, parent

MAKE = Repro("machine:7:100.00", 100.0, "", "machine:8:101.00", 101.0)


def info(store: ExperimentStore, run_id: str | None) -> Any:
    """What MLflow says of a run."""
    assert run_id is not None
    return store.client.get_run(run_id).info


def test_the_stages_of_one_process_have_one_run_above_them() -> None:
    store = open_store("one-run-above")
    first = parent(store, {"colour": "grey"}, MAKE)
    assert info(store, first).run_name == "repro 1970-01-01 00:01:40"
    assert parent(store, {}, replace(MAKE, dvc="machine:9:105.00", dvc_started=105.0)) == first
    others = [
        replace(MAKE, process="machine:71:100.00"),
        replace(MAKE, process="elsewhere:7:100.00"),
        replace(MAKE, process="machine:7:900.00"),
        replace(MAKE, process="machine:9:100.00", experiment="six-layers"),
    ]
    found = [parent(store, {}, one) for one in others]
    assert len({first, *found}) == 5
    assert info(store, found[-1]).run_name.endswith(" six-layers")
    assert parent(store, {}, None) is None


def test_the_run_above_stays_failed_where_a_stage_has_and_else_goes_on() -> None:
    store = open_store("failed-above")
    run_id = parent(store, {}, MAKE)
    assert run_id is not None
    store.end(run_id, "FINISHED")
    assert parent(store, {}, MAKE) == run_id
    assert info(store, run_id).status == "RUNNING"
    store.end(run_id, "FAILED")
    assert parent(store, {}, MAKE) == run_id
    assert info(store, run_id).status == "FAILED"


def test_runs_of_processes_of_this_machine_that_are_gone_are_closed() -> None:
    store = open_store("closed-runs")
    here, own = socket.gethostname(), psutil.Process()
    tags = {
        "alive": f"{here}:{own.pid}:{own.create_time():.2f}",
        "before": f"{here}:{own.pid}:{own.create_time() - 100:.2f}",
        "elsewhere": f"not-{here}:{own.pid}:{own.create_time() - 100:.2f}",
        "odd": f"{here}:x:100.00",
    }
    made = {name: store.create(name, {"process": tag}) for name, tag in tags.items()}
    mark_killed_runs(store)
    assert {name for name, run_id in made.items() if info(store, run_id).status == "KILLED"} == {"before"}
