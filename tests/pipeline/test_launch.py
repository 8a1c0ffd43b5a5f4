"""One training in several processes: who starts them, which of them keeps the books, and what the settings refuse."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.launch import LAUNCHED, RANKS, follows, launch
from pipeline.loading import load
from quartet.config.loading import read_yaml
from quartet.config.training import Trainer
from quartet.errors import InputError
from tests.conftest import ROOT

SEVERAL = Trainer(devices=4, nodes=2, launch="srun --kill-on-bad-exit=1")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (LAUNCHED, *RANKS):
        monkeypatch.delenv(name, raising=False)


def test_the_launcher_takes_the_place_of_the_process_once(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[Any] = []
    monkeypatch.setattr(os, "execvpe", lambda *given: became.append(given))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "stages.pretrain", "tta"])
    launch(SEVERAL)
    ((file, command, environment),) = became
    assert file == "srun"
    assert command == ["srun", "--kill-on-bad-exit=1", sys.executable, "-m", "stages.pretrain", "tta"]
    monkeypatch.setenv(LAUNCHED, environment[LAUNCHED])
    launch(SEVERAL)
    monkeypatch.delenv(LAUNCHED)
    launch(Trainer(devices=4))
    launch(Trainer(launch="srun"))
    assert len(became) == 1, "not in what was launched, not without a launcher, not for one device"


def test_a_launcher_that_is_not_there() -> None:
    with pytest.raises(
        InputError, match=r"trainer\.launch: no-such-launcher cannot be started \(No such file"
    ):
        launch(Trainer(devices=2, launch="no-such-launcher -n 2"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, False),
        ({"LOCAL_RANK": "1"}, True),  # Lightning's own
        ({"RANK": "8", "LOCAL_RANK": "0"}, True),  # torchrun, the second node
        ({"RANK": "0", "LOCAL_RANK": "0"}, False),
        ({"SLURM_PROCID": "8"}, True),
        ({"SLURM_PROCID": "0", "LOCAL_RANK": "3"}, True),  # Lightning's, started within a job
    ],
)
def test_the_first_process_keeps_the_books(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], expected: bool
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert follows(SEVERAL) is expected
    assert not follows(Trainer()), "whatever the machine's variables say"


def refused(tmp_path: Path, trainer: dict[str, Any]) -> str:
    settings = read_yaml(ROOT / "presets" / "tiny.yaml")
    path = tmp_path / "params.yaml"
    path.write_text(json.dumps({**settings, "trainer": trainer}), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(path)
    return str(caught.value)


def test_settings_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    assert "trainer: strategy fsdp needs several devices" in refused(tmp_path, {"strategy": "fsdp"})
    assert "trainer.device: unknown key; the nearest known key is 'devices'" in refused(
        tmp_path, {"device": 2}
    )
    assert "trainer.devices" in refused(tmp_path, {"devices": 0})


def test_no_stage_is_run_again_for_another_machine() -> None:
    """DVC compares what dvc.yaml names under ``params``."""
    tracked = (ROOT / "dvc.yaml").read_text(encoding="utf-8")
    assert not re.search(r"\btrainer\b", tracked)
