"""What `make ui` says before MLflow's pages are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.settings import read_params
from pipeline.tracking.mlflow import open_store
from pipeline.ui import ui
from quartet.errors import InputError


def test_an_experiment_without_a_report_has_the_address_of_its_runs(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("experiment: tiny", "experiment: without-report"))
    ui("5001")
    line = capsys.readouterr().out
    number = open_store(read_params().experiment).experiment
    assert f"http://127.0.0.1:5001/#/experiments/{number}/runs" in line and "no report" in line


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "²"])
def test_what_is_no_port_is_refused(port: str) -> None:
    with pytest.raises(InputError, match=f"PORT: {port} "):
        ui(port)
