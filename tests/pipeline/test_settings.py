"""artifacts/settings.json: the same settings as params.yaml's, complete, and never older by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline import settings
from pipeline.run import DVC_STAGE
from pipeline.settings import read_params
from pipeline.stages import EVALUATIONS
from quartet.errors import InputError
from tests.imports import ROOT
from tests.settings import change_settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with params.yaml alone, in which nobody but this test works."""
    (tmp_path / "params.yaml").write_bytes((ROOT / "presets" / "tiny.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DVC_STAGE, raising=False)
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "params.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize("preset", sorted((ROOT / "presets").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_preset_comes_back_as_it_was_and_in_its_order(preset: Path, folder: Path) -> None:
    (folder / "params.yaml").write_bytes(preset.read_bytes())
    params = read_params()
    settings.write(params)
    assert settings.load() == params
    assert list(settings.load().models) == list(params.models)


def test_defaults_are_filled_in(folder: Path) -> None:
    settings.write(read_params())
    written = json.loads(settings.SETTINGS.read_text())
    assert written["models"]["tta"]["training"]["clip"] == read_params().models["tta"].training.clip
    assert written["workers"] == 0


def test_by_hand_a_stage_wants_settings_that_are_not_older(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"settings\.json: no such file; run `dvc repro settings`"):
        settings.load()
    settings.write(read_params())
    edit(folder, "seeds: [1]", "# a comment\nseeds: [1]")
    settings.load()
    edit(folder, "seeds: [1]", "seeds: [2]")
    with pytest.raises(
        InputError, match=r"does not hold what params\.yaml says now; run `dvc repro settings`"
    ):
        settings.load()
    monkeypatch.setenv(DVC_STAGE, "report")
    assert settings.load().seeds == [1]


def test_by_hand_a_mistake_is_told_first(folder: Path) -> None:
    edit(folder, "seeds: [1]", "sedes: [1]")
    with pytest.raises(
        InputError, match=r"params\.yaml: sedes: unknown key; the nearest known key is 'seeds'"
    ):
        settings.load()


def test_settings_of_other_code_are_refused(folder: Path) -> None:
    settings.write(read_params())
    text = settings.SETTINGS.read_text().replace('"bootstrap"', '"bootstraps"', 1)
    settings.SETTINGS.write_text(text)
    with pytest.raises(
        InputError, match=r"not the settings of this code \(bootstrap\); run `dvc repro settings`"
    ):
        settings.load()


def judged(kind: str, form: str, file: str) -> dict[str, Any]:
    """A task of one file, none to tune on."""
    return {"kind": kind, "format": form, "license": "x", "files": {file: {"source": "x", "sha256": None}}}


@pytest.mark.parametrize("evaluated", [[], ["tta"]])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("stsb", "unknown task of kind nli 'stsb'"),
        ("snil", "unknown task of kind nli 'snil'.*snli"),
        ("hans", r"tasks\.hans\.files: no file train"),
    ],
)
def test_a_set_that_teaches_nothing_is_refused(
    folder: Path, evaluated: list[str], name: str, message: str
) -> None:
    """The baselines learn from it too, where no model is tuned."""
    others = {"stsb": judged("sts", "stsb", "dev"), "hans": judged("nli", "hans", "test")}
    keys = {f"tasks.{key}": task for key, task in others.items()}
    change_settings(folder / "params.yaml", {**keys, "evaluate.nli": evaluated})
    assert read_params().nli.sets == ["snli"]
    change_settings(folder / "params.yaml", {"nli.sets": ["snli", name]})
    with pytest.raises(InputError, match=message):
        read_params()


def test_no_set_to_tune_on_at_all_is_a_mistake_where_models_are_tuned(folder: Path) -> None:
    change_settings(folder / "params.yaml", {"nli.sets": []})
    with pytest.raises(InputError, match=r"params\.yaml: nli\.sets: names no set to tune on"):
        read_params()
    change_settings(folder / "params.yaml", {"evaluate.nli": []})
    assert read_params().nli.sets == []


def test_sets_to_tune_on_may_be_named_where_there_is_no_task_of_the_kind(folder: Path) -> None:
    change_settings(folder / "params.yaml", {"tasks": {}, "evaluate": {name: [] for name in EVALUATIONS}})
    assert read_params().nli.sets == ["snli"]
