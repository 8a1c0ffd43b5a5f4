"""translate: parallel text becomes a translator and N-best lists, which the stage nbest reads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import MANIFEST, Layout
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.files import read_json, read_jsonl, sha256
from quartet.nbest.formats import NBestFiles, read
from quartet.recognise import translator_training
from quartet.recognise.parallel_text import read_parallel
from quartet.recognise.translation import load_translator
from quartet.results import read_results
from stages.nbest import nbest
from stages.translate import translate
from tests.recognise import toy
from tests.stages.test_set_stages import change

SECTION = """
translators:
  toy-de-en:
    languages: [de, en]
    train: [train.de.gz, train.en]
    dev: [dev.de, dev.en]
    test: [test.de, test.en]
    tokenizer: {vocab_size: 340}
    layers: 1
    dim: 32
    heads: 2
    inner: 64
    max_length: 10
    init_std: 0.1
    training: {steps: 60, batch_size: 400, learning_rate: 5e-3, validate_every: 20, checkpoint_every: 20, weights: best}
    beam: {size: 4, extra_tokens: 4}
"""
NAME = "toy-de-en"


@pytest.fixture
def layout(workspace: Path) -> Layout:
    """The preset tiny with a translator of the toy language, and its text."""
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("translators: {}\n", "") + SECTION)
    for split, text in {"train": toy.TRAIN, "dev": toy.DEV, "test": toy.parallel(30, 3)}.items():
        (workspace / f"{split}.de").write_text("\n".join(text.source) + "\n")
        (workspace / f"{split}.en").write_text("\n".join(text.target) + "\n")
    plain = workspace / "train.de"
    (workspace / "train.de.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    return Layout("tiny")


def outputs(layout: Layout) -> dict[str, bytes]:
    """Every file that DVC is to keep."""
    paths = [
        *layout.translations(NAME).iterdir(),
        *layout.translator(NAME).iterdir(),
        layout.translator_curve(NAME),
        layout.rows("translate", NAME),
    ]
    return {path.as_posix(): path.read_bytes() for path in paths}


def test_lists_and_their_provenance(layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translate(NAME)
    folder = layout.translations(NAME)
    lists = read("mlm-scoring", NBestFiles(folder / "test.json")).lists
    assert [one.reference for one in lists] == list(toy.parallel(30, 3).target)
    manifest = read_json(folder / MANIFEST)
    assert manifest["test"]["sha256"] == sha256(folder / "test.json")
    assert manifest["test"]["hypotheses"] == sum(len(one.hypotheses) for one in lists)
    assert manifest["test"]["hypotheses"] + manifest["test"]["merged_hypotheses"] == 30 * 4
    assert manifest["sources"]["train"]["files"][0] == {
        "source": "train.de.gz",
        "sha256": sha256(workspace / "train.de.gz"),
    }
    assert manifest["weights"]["sha256"] == sha256(layout.translator(NAME) / "model.safetensors")
    assert manifest["test"]["bleu_signature"].startswith("nrefs:1|case:mixed|eff:no")
    assert manifest["dropped_pairs"]["train"] == 1500 - load_translator(layout.translator(NAME)).card.pairs
    rows = {(row.split, row.metric): row for row in read_results(layout.rows("translate", NAME))}
    assert set(rows) == {
        ("dev", "loss"),
        ("dev", "tokens"),
        ("dev", "parameters"),
        ("dev", "bleu"),
        ("test", "bleu"),
    }
    assert rows["test", "bleu"].value == manifest["test"]["bleu"]
    curve = layout.translator_curve(NAME).read_text().splitlines()
    assert [line.split(",")[:2] for line in curve] == [
        ["seed", "step"],
        ["1", "20"],
        ["1", "40"],
        ["1", "60"],
    ]

    # Once more: the finished training is taken over, and everything is the same to the byte.
    first = outputs(layout)
    with monkeypatch.context() as patch:
        patch.setattr(translator_training, "fit_translator", refused)
        patch.setattr("pipeline.tracking.stage.hardware", lambda: "another processor")
        translate(NAME)
        assert outputs(layout) == first
        noted = {row["name"]: row for _, row in read_jsonl(layout.timing("translate", NAME))}
        assert noted["search/dev"]["device"] == "another processor" != noted["train"]["device"]
        assert (noted["search/dev"]["sentences"], noted["search/test"]["sentences"]) == (len(toy.DEV), 30)
        change(workspace, "beam: {size: 4", "beam: {size: 2")
        translate(NAME)  # another search needs no other training
    assert read_json(folder / MANIFEST)["weights"] == manifest["weights"]
    assert max(len(one.hypotheses) for one in read("mlm-scoring", NBestFiles(folder / "dev.json")).lists) == 2


def test_other_weights_and_other_resume_points_train_nothing(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rate spoils what the warm-up reached, so that the best weights are not the last."""
    few = "steps: 20, batch_size: 400, learning_rate: 0.5, warmup: 0.9, schedule: constant, validate_every: 5"
    change(workspace, "steps: 60, batch_size: 400, learning_rate: 5e-3, validate_every: 20", few)
    translate(NAME)
    monkeypatch.setattr(translator_training, "fit_translator", refused)
    first, best = outputs(layout), load_translator(layout.translator(NAME)).card
    assert best.weights_step < best.steps
    change(workspace, "checkpoint_every: 20, weights: best", "checkpoint_every: 7")
    translate(NAME)
    last = load_translator(layout.translator(NAME)).card
    assert (last.weights_step, last.training.weights, last.training.checkpoint_every) == (20, "last", 7)
    weights = layout.translator(NAME) / "model.safetensors"
    assert weights.read_bytes() != first[weights.as_posix()]
    curve = dict(line.split(",")[1:] for line in layout.translator_curve(NAME).read_text().splitlines())
    loss = {row.metric: row.value for row in read_results(layout.rows("translate", NAME))}["loss"]
    assert f"{loss:.6f}" == curve["20"]
    change(workspace, "checkpoint_every: 7", "checkpoint_every: 20, weights: best")
    translate(NAME)
    assert outputs(layout) == first
    change(workspace, "learning_rate: 0.5", "learning_rate: 0.4")
    with pytest.raises(AssertionError, match="trained once more"):
        translate(NAME)


def refused(*arguments: Any, **named: Any) -> None:
    raise AssertionError("trained once more")


def test_a_change_of_the_text_trains_anew(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(workspace, "steps: 60", "steps: 2")
    translate(NAME)
    with (workspace / "train.en").open("a") as file:
        file.write("one more\n")
    with pytest.raises(InputError, match=r"train\.de\.gz and train\.en: 1,500 and 1,501 lines"):
        translate(NAME)
    (workspace / "train.en").write_text("\n".join(reversed(toy.TRAIN.target)) + "\n")
    monkeypatch.setattr(translator_training, "fit_translator", refused)
    with pytest.raises(AssertionError, match="trained once more"):
        translate(NAME)
    assert json.loads((layout.translations(NAME) / MANIFEST).read_text())["test"]["lists"] == 30


def test_text_that_changes_meanwhile_is_not_taken(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*paths: Path) -> Any:
        found = read_parallel(*paths)
        (workspace / "test.en").write_text("\n".join(reversed(toy.parallel(30, 3).target)) + "\n")
        return found

    change(workspace, "steps: 60", "steps: 2")
    monkeypatch.setattr("stages.translate.read_parallel", slow)
    with pytest.raises(InputError, match=r"test\.en: changed while the stage read it"):
        translate(NAME)
    assert not layout.translations(NAME).exists()


def test_lists_of_a_translator_are_read_where_the_sets_are_elsewhere(layout: Layout, workspace: Path) -> None:
    """``data.root`` can be a link: `..` of a name in it means the project, for DVC and for the stage alike."""
    sets = workspace / "disk" / "sets"
    sets.mkdir(parents=True)
    (workspace / "sets").symlink_to(sets)
    for name in ("train.de.gz", "train.en", "dev.de", "dev.en", "test.de", "test.en"):
        (workspace / name).rename(sets / name)
    change(workspace, "steps: 60", "steps: 2")
    change(workspace, "data: {root: .}", "data: {root: sets}")
    translate(NAME)
    entry = f"""
  toy:
    format: mlm-scoring
    folder: ../{layout.translations(NAME)}
    dev: dev.json
    test: test.json
    metric: bleu
    normalise: {{lowercase: false, strip_punctuation: false}}
"""
    change(workspace, "\nnbest:", f"\nnbest:{entry}")
    nbest("toy")
    lists = layout.translations(NAME) / "test.json"
    manifest = read_json(layout.nbest("toy") / MANIFEST)
    assert manifest["test"]["files"] == {str(lists): sha256(lists)}


def test_an_unknown_translator_is_named(layout: Layout) -> None:
    with pytest.raises(InputError, match="has no entry 'toy-en-de'; the nearest known name is 'toy-de-en'"):
        translate("toy-en-de")


def test_settings_without_translators_are_settings(workspace: Path) -> None:
    assert read_params().translators == {}
