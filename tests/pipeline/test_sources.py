"""What local sources hold is a setting: an edit in place is seen by the next `dvc repro`, of any kind of source."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import settings, sources
from pipeline.run import DVC_STAGE
from pipeline.settings import StageSettings, read_params
from pipeline.sources import content
from quartet.errors import InputError
from tests.imports import ROOT
from tests.settings import change_settings

PROMISED = "0" * 64
MODEL = {
    "given/config.json": '{"model_type": "bert"}',
    "given/model.safetensors": "weights",
    "given/vocab.txt": "[UNK]",
}


def source(path: str, sha256: str | None = None) -> dict[str, Any]:
    return {"source": path, "sha256": sha256}


#: Of each kind of source: the settings, its files, one of these that counts, and the entry that depends on it.
KINDS: dict[str, tuple[dict[str, Any], dict[str, str], str, str]] = {
    "a folder of text": (
        {"corpora.wikipedia-sample.source": "texts", "corpora.wikipedia-sample.sha256": None},
        {"texts/a/1.txt": "one", "texts/2.txt": "two"},
        "texts/a/1.txt",
        "corpora.wikipedia-sample",
    ),
    "a set": (
        {
            "tasks.mine": {
                **{"kind": "classification", "license": "none"},
                "files": {"texts": source("small.txt")},
            }
        },
        {"small.txt": "__label__a one"},
        "small.txt",
        "tasks.mine",
    ),
    "word vectors": (
        {"vectors": {"v": {**source("v.txt"), "format": "glove", "lowercase": True}}},
        {"v.txt": "a 1 2"},
        "v.txt",
        "vectors.v",
    ),
    "a vocabulary": (
        {"tokenizers.bert": {"kind": "pretrained", "corpus": "wikipedia-sample", "source": "given"}},
        MODEL,
        "given/vocab.txt",
        "tokenizers.bert",
    ),
    "initial weights": (
        {"models.tta.init_from": "given"},
        MODEL,
        "given/model.safetensors",
        "models.tta",
    ),
    "a model": ({"pretrained": {"p": {"source": "given"}}}, MODEL, "given/model.safetensors", "pretrained.p"),
    "a recogniser": (
        {
            "recognisers": {
                "w": {
                    **{"engine": "ctranslate2", "source": "whisper"},
                    "audio": {"format": "folder", "folder": "audio", "dev": "dev", "test": "test"},
                }
            }
        },
        {"whisper/model.bin": "weights"},
        "whisper/model.bin",
        "recognisers.w",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with params.yaml alone."""
    (tmp_path / "params.yaml").write_bytes((ROOT / "presets" / "tiny.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DVC_STAGE, raising=False)
    return tmp_path


def made(folder: Path, kind: str) -> tuple[Path, str]:
    """The source of a kind, in place and named by params.yaml: the file that counts, and the entry."""
    keys, files, counts, entry = KINDS[kind]
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    change_settings(folder / "params.yaml", keys)
    return folder / counts, entry


def lines() -> dict[str, list[str]]:
    """By entry what stands in the written settings."""
    found = json.loads(settings.SETTINGS.read_text())["content"]
    return {f"{section}.{name}": one for section, entries in found.items() for name, one in entries.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_in_place_is_another_setting(folder: Path, kind: str) -> None:
    path, entry = made(folder, kind)
    settings.write(read_params())
    before = lines()
    assert settings.write(read_params()) == [] and lines() == before
    path.write_text(path.read_text()[::-1])  # of the same size
    assert settings.write(read_params()) == [entry]
    after = lines()
    assert [name for name in after if after[name] != before[name]] == [entry]
    path.unlink()
    if path.parent == folder:
        assert settings.write(read_params()) == [], "what is not on this machine is as it was"
        assert lines() == after


@pytest.mark.parametrize("kind", ["a folder of text", "initial weights"])
def test_what_is_no_part_of_a_source_is_none_of_its_setting(folder: Path, kind: str) -> None:
    path, _ = made(folder, kind)
    settings.write(read_params())
    before = lines()
    beside = path.parent / "notes.md"
    beside.write_text("mine")
    settings.write(read_params())
    assert (lines() == before) == (kind == "initial weights"), "a reader of a corpus decides by itself"


def test_a_promised_file_counts_by_its_promise_as_soon_as_it_is_there(folder: Path) -> None:
    path, entry = made(folder, "a set")
    change_settings(folder / "params.yaml", {"tasks.mine.files.texts.sha256": PROMISED})
    path.rename(folder / "elsewhere")
    settings.write(read_params())
    assert lines()[entry] == []
    path.write_text("come")
    assert settings.write(read_params()) == [entry]
    assert lines()[entry] == [f"{PROMISED} small.txt"]
    path.write_text("edited")
    assert settings.write(read_params()) == []


def test_a_file_is_read_again_only_where_size_or_times_differ(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = made(folder, "word vectors")
    read: list[str] = []

    def counted(found: Path) -> str:
        read.append(found.name)
        return found.read_text()

    monkeypatch.setattr(sources, "sha256", counted)
    params, known = read_params(), sources.read_known()
    content(params, {}, known)
    content(params, {}, known)
    assert read == ["v.txt"] * 2, "it could have changed since, within a tick of the clock"
    monkeypatch.setattr(sources, "TICK", -1.0)
    content(params, {}, known)
    content(params, {}, known)
    assert len(read) == 3
    sources.write_known(known)
    content(params, {}, sources.read_known())
    assert len(read) == 3
    facts = path.stat()
    path.write_text("b 1 2")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert content(params, {}, sources.read_known())["vectors"]["v"] == ["b 1 2 v.txt"]
    sources.KNOWN.write_text("[")
    content(params, {}, sources.read_known())
    assert len(read) == 5


def test_dvc_reads_a_line_as_it_wrote_it(folder: Path) -> None:
    """It folds lines at spaces: what came back otherwise would run its stage each time."""
    from dvc.utils.serialize import dump_yaml, load_yaml

    name = "my  texts of a corpus/" + "with a long name and  blanks " * 4
    (folder / name).mkdir(parents=True)
    (folder / name / "1.txt").write_text("one")
    change_settings(
        folder / "params.yaml",
        {"corpora.wikipedia-sample.source": name, "corpora.wikipedia-sample.sha256": None},
    )
    found = content(read_params(), {}, {})
    assert len(found["corpora"]["wikipedia-sample"]) == 1
    dump_yaml("lock.yaml", found)
    assert load_yaml("lock.yaml") == found
    (folder / name).rename(folder / "elsewhere")
    assert content(read_params(), found, {})["corpora"] == found["corpora"]


def edited(path: Path) -> None:
    path.write_text("other")


def rewritten(path: Path) -> None:
    change_settings(Path("params.yaml"), {"vectors.v.lowercase": False})
    settings.write(read_params())


@pytest.mark.parametrize(
    ("meanwhile", "says"), [(edited, "its source has changed"), (rewritten, "another run")]
)
def test_a_stage_whose_settings_are_others_meanwhile_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Path], None], says: str
) -> None:
    path, _ = made(folder, "word vectors")
    settings.write(read_params())
    monkeypatch.setenv(DVC_STAGE, "vectors@v")
    mine = StageSettings(settings.load(), "vectors", "v")
    other = StageSettings(settings.load(), "segment", "wikipedia-sample")
    mine.check()
    meanwhile(path)
    with pytest.raises(InputError, match=f"{says}.*run `dvc repro` again"):
        mine.check()
    other.check()
