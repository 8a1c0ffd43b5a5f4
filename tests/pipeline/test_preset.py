"""`make repro PRESET=name` changes the settings, never at the cost of the user's own edits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline import preset, side_by_side
from pipeline.layout import Layout
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.files import hold_lock
from quartet.report.facts import read_facts
from quartet.report.headline import headline
from quartet.results import read_results

PRESETS = Path(__file__).resolve().parents[2] / "presets"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the presets, and sample as its params.yaml."""
    shutil.copytree(PRESETS, tmp_path / "presets")
    shutil.copyfile(PRESETS / "sample.yaml", tmp_path / "params.yaml")
    (tmp_path / "data" / "nbest" / "sample-speech").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been run; `dvc repro` leaves a dvc.lock and a report."""
    ran: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(command[1:])
        Path("dvc.lock").write_text("locked")
        report = Layout(read_params().experiment).report
        report.mkdir(parents=True, exist_ok=True)
        for name in ("results.jsonl", "facts.json"):
            shutil.copyfile(PRESETS.parent / "reports" / "sample" / name, report / name)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr(side_by_side, "jobs", lambda params, wanted: int(wanted or 1))
    return ran


def same(folder: Path, name: str) -> bool:
    """True where params.yaml is the preset `name`."""
    return (folder / "params.yaml").read_bytes() == (folder / "presets" / f"{name}.yaml").read_bytes()


def test_a_preset_takes_the_place_of_another_and_back(folder: Path) -> None:
    preset.choose("tiny")
    assert same(folder, "tiny")
    preset.choose("tiny")
    preset.choose("sample")
    assert same(folder, "sample")


def test_edits_are_never_lost(folder: Path) -> None:
    edited = (folder / "params.yaml").read_text().replace("seeds: [1]", "seeds: [2]")
    (folder / "params.yaml").write_text(edited)
    with pytest.raises(
        InputError, match=r"holds edits of yours that are in no preset; keep them with `cp params.yaml"
    ):
        preset.choose("tiny")
    assert (folder / "params.yaml").read_text() == edited
    (folder / "presets" / "mine.yaml").write_text(edited)
    preset.choose("tiny")
    assert same(folder, "tiny")
    preset.choose("mine")
    assert (folder / "params.yaml").read_text() == edited


def test_an_unknown_preset_names_the_nearest(folder: Path) -> None:
    with pytest.raises(
        InputError, match=r"PRESET=tinny: there is no presets/tinny.yaml; the nearest known preset is 'tiny'"
    ):
        preset.choose("tinny")
    with pytest.raises(InputError, match="there is no"):
        preset.choose("../params")


def test_a_broken_preset_is_not_chosen(folder: Path) -> None:
    (folder / "presets" / "mine.yaml").write_text("experiment: mine\n")
    with pytest.raises(InputError, match=r"presets/mine\.yaml: seeds: missing"):
        preset.choose("mine")
    assert same(folder, "sample")


def test_the_run_of_a_preset_is_kept_with_its_report(
    folder: Path, commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    preset.repro("tiny")
    assert commands == [["-m", "dvc", "repro"]]
    report = Layout("tiny").report
    assert (report / "dvc.lock").read_text() == "locked"
    assert (report / "params.yaml").read_bytes() == (PRESETS / "tiny.yaml").read_bytes()
    said = capsys.readouterr().out
    shown = headline(read_results(report / "results.jsonl"), read_facts(report / "facts.json"))
    assert said.splitlines()[1:4] == list(shown), "it ends with what the run shows"
    assert "reports/tiny/README.md" in said
    assert "make ui" in said


def test_as_many_stages_run_side_by_side_as_are_asked_for(
    folder: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "repro", lambda most: commands.append(["side by side", str(most)]))
    monkeypatch.setattr(preset, "say_results", lambda layout: None)
    preset.repro("", "3")
    assert commands == [["side by side", "3"]]


def test_a_second_one_in_the_same_folder_does_nothing(folder: Path, commands: list[list[str]]) -> None:
    with (
        hold_lock(folder / "presets"),
        pytest.raises(InputError, match=r"^make repro: another one runs in this folder"),
    ):
        preset.repro("tiny")
    assert commands == []
    assert same(folder, "sample")


def test_the_default_has_the_repositorys_own_lock(folder: Path, commands: list[list[str]]) -> None:
    preset.repro()
    assert commands == [["-m", "dvc", "repro"]]
    assert not (Layout("sample").report / "dvc.lock").exists()


def test_a_mistake_in_the_settings_runs_nothing(folder: Path, commands: list[list[str]]) -> None:
    (folder / "params.yaml").write_text((folder / "params.yaml").read_text().replace("runtime:", "runtimes:"))
    with pytest.raises(InputError, match="unknown key"):
        preset.repro()
    assert commands == []


def test_a_failed_pipeline_ends_with_its_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda command, **_: subprocess.CompletedProcess(command, 255))
    with pytest.raises(SystemExit) as left:
        preset.repro("tiny")
    assert left.value.code == 255


def test_lists_that_are_not_there_are_named_with_their_setting(
    folder: Path, commands: list[list[str]]
) -> None:
    """Those that a stage makes come later."""
    text = (folder / "params.yaml").read_text()
    (folder / "params.yaml").write_text(
        text.replace("folder: data/nbest/sample-speech", "folder: data/nbest/sample")
    )
    with pytest.raises(InputError, match=r"params\.yaml: nbest\.sample-speech\.folder: .*'sample-speech'"):
        preset.repro()
    assert commands == []
    made = "folder: artifacts/sample/translations/mine"
    (folder / "params.yaml").write_text(text.replace("folder: data/nbest/sample-speech", made))
    preset.repro()
    assert commands == [["-m", "dvc", "repro"]]
