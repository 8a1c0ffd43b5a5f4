"""The comparison of a model with its export, and the command that makes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quartet
from benchmarks import parity
from quartet import cli
from quartet.cli.parity import lines, study
from quartet.errors import InputError
from quartet.export.writing import export
from quartet.files import read_json
from quartet.runtime import clock

LISTS = {
    "u1": {
        "ref": "a grey heron",
        "hyp_1": {"score": -1.0, "text": "a grey letter"},
        "hyp_2": {"score": -1.5, "text": "A grey heron."},
    },
    "u2": {
        "ref": "the river",
        "hyp_1": {"score": -0.5, "text": "river the"},
        "hyp_2": {"score": -0.6, "text": "the river"},
    },
}


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    path = tmp_path / "lists.json"
    path.write_text(json.dumps(LISTS))
    return path


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timers run once a round."""
    monkeypatch.setattr(clock, "WARM_UP", 1)
    monkeypatch.setattr(clock, "BRIEF", 0.0)


def call(*arguments: str) -> int:
    """The exit code of the command."""
    with pytest.raises(SystemExit) as stop:
        cli.main(list(arguments))
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_the_figures_are_those_of_two_rescorings(
    trained: dict[str, Path], tmp_path: Path, lists: Path
) -> None:
    export(trained["tta"], tmp_path / "int8", "onnx-int8")
    found = study(trained["tta"], tmp_path / "int8", lists, lm_weight=0.5, rounds=2, samples=50)
    ours, theirs = (
        quartet.rescore(quartet.load(folder), lists, weight=0.5)
        for folder in (trained["tta"], tmp_path / "int8")
    )
    assert (found["wer"]["model"]["value"], found["wer"]["exported"]["value"]) == (ours.value, theirs.value)
    assert found["wer"]["difference"]["value"] == pytest.approx((theirs.value or 0) - (ours.value or 0))
    assert found["wer"]["first_pass"] == ours.first_pass == 60.0
    apart = np.abs(ours.candidates.lm - theirs.candidates.lm)
    assert found["scores"]["largest_difference"] == apart.max() > 1e-4
    assert found["scores"]["mean_difference"] == pytest.approx(apart.mean())
    assert found["weight"] == 0.5
    assert found["lists"]["lists"] == 2 and found["lists"]["texts"] == 4
    assert found["timed"] == {"list": 4, "alone": 2}
    for use in ("list", "alone"):
        times = found["milliseconds"][use]
        assert times["model"]["value"] > 0 and times["exported"]["n"] == 2
        ratio = times["model"]["value"] / times["exported"]["value"]
        assert found["times_as_fast"][use]["value"] == pytest.approx(ratio)
    assert found["bytes"] == {
        "model": (trained["tta"] / "model.safetensors").stat().st_size,
        "exported": (tmp_path / "int8" / "model.onnx").stat().st_size,
    }
    assert any("WER" in line for line in lines(found))
    assert all(line[21] == " " for line in lines(found)), "a name and its figure stand apart"


def test_other_choices_are_counted(trained: dict[str, Path], tmp_path: Path, lists: Path) -> None:
    """Two models that have nothing to do with each other."""
    both = [trained["tta"], trained["unilm"]]
    found = study(both[0], both[1], lists, lm_weight=1.0, rounds=1, samples=50)
    chosen = [
        [row["best"] for row in quartet.rescore(quartet.load(folder), lists, weight=1.0)] for folder in both
    ]
    assert found["choices"] == sum(one != other for one, other in zip(*chosen, strict=True))
    models = [quartet.load(folder) for folder in both]
    ours, theirs = (quartet.rescore(model, lists, weight=1.0).value or 0.0 for model in models)
    assert found["wer"]["difference"]["value"] == pytest.approx(theirs - ours)
    assert ours != theirs
    apart = []
    for weight in range(21):
        one, other = (quartet.rescore(model, lists, weight=weight / 20).value for model in models)
        assert one is not None and other is not None
        apart.append(abs(one - other))
    assert found["wer_at_any_weight"] == pytest.approx(max(apart))


def test_the_weight_may_be_the_models_own_choice(
    trained: dict[str, Path], tmp_path: Path, lists: Path
) -> None:
    wanted = quartet.rescore(quartet.load(trained["tta"]), lists, tune=_renamed(lists)).weight
    found = study(trained["tta"], trained["tta"], lists, tune=_renamed(lists), rounds=1, samples=10)
    assert found["weight"] == wanted
    assert found["choices"] == found["scores"]["largest_difference"] == 0


def _renamed(lists: Path) -> Path:
    """The same lists under other names, to choose a weight on."""
    path = lists.with_name("dev.json")
    path.write_text(json.dumps({f"dev-{name}": content for name, content in LISTS.items()}))
    return path


def test_the_program_prints_and_writes(
    trained: dict[str, Path],
    tmp_path: Path,
    lists: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    export(trained["tta"], tmp_path / "out", "onnx")
    options = ["--rounds", "1", "--samples", "20", "--json", str(tmp_path / "found.json")]
    arguments = [str(trained["tta"]), str(tmp_path / "out"), str(lists), *options]
    monkeypatch.setattr("sys.argv", ["parity", *arguments])
    with pytest.raises(SystemExit) as stop:
        parity.main()
    assert not stop.value.code
    assert "other choices 0 lists" in " ".join(capsys.readouterr().out.split())
    found = read_json(tmp_path / "found.json")
    assert found["weight"] == 0.5 and found["scores"]["largest_difference"] < 1e-3
    monkeypatch.setattr("sys.argv", ["parity", *arguments, "--lm-weight", "0.2", "--tune", str(lists)])
    with pytest.raises(SystemExit) as stop:
        parity.main()
    assert stop.value.code == 2


def test_lists_without_references_are_refused(trained: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    path.write_text(json.dumps({"u1": {"hyp_1": {"score": -1.0, "text": "a"}}}))
    with pytest.raises(InputError, match="no list has a reference"):
        study(trained["tta"], trained["tta"], path, lm_weight=0.5)


@pytest.mark.parametrize(
    ("options", "form"), [(["--onnx"], "onnx"), (["--onnx", "--int8"], "onnx-int8"), (["--fp16"], "fp16")]
)
def test_the_command_writes_a_folder_that_score_and_embed_take(
    options: list[str],
    form: str,
    trained: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import io

    out = tmp_path / "out"
    assert call("export", str(trained["tta"]), str(out), *options, "--weights", "best") == 0
    assert "MB, of" in capsys.readouterr().out
    assert read_json(out / "export.json")["form"] == form
    assert read_json(out / "config.json")["training"]["weights"] == "best"
    printed: dict[str, Any] = {}
    for command in ("score", "embed"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"the river\n\na letter")))
        assert call(command, "--model", str(out)) == 0
        printed[command] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    best = quartet.load(trained["tta"], weights="best")
    assert printed["score"] == pytest.approx(best.score(["the river", "", "a letter"]), abs=0.5)
    assert [len(vector) for vector in printed["embed"]] == [24, 24, 24]


def test_the_command_checks_and_rescores(
    trained: dict[str, Path], tmp_path: Path, lists: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, best = tmp_path / "out", tmp_path / "best.jsonl"
    command = ["export", str(trained["tta"]), str(out), "--onnx", "--check", str(lists), "--lm-weight", "0.3"]
    assert call(*command) == 0
    assert "weight 0.3, 2 lists" in " ".join(capsys.readouterr().out.split())
    command = [
        "rescore",
        "--model",
        str(out),
        "--nbest",
        str(lists),
        "--lm-weight",
        "0.3",
        "--out",
        str(best),
    ]
    assert call(*command) == 0
    assert len(best.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "no form is named; give --onnx, --onnx --int8 or --fp16"),
        (["--int8"], "no form is named"),
        (["--onnx", "--fp16"], "are two forms"),
        (["--int8", "--fp16"], "--int8 is a form of --onnx"),
        (["--onnx", "--check", "none.json"], "none.json: no such file"),
    ],
)
def test_mistakes_end_with_one_line_and_code_two(
    options: list[str],
    words: str,
    trained: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("export", str(trained["tta"]), str(tmp_path / "out"), *options) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1 and errors[0].startswith("error: ") and words in errors[0]
    assert not (tmp_path / "out").exists()


def test_a_model_of_hugging_face_is_none_to_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    assert call("export", str(tmp_path), str(tmp_path / "out"), "--onnx") == 2
    assert "was not trained here" in capsys.readouterr().err
