"""References to models of Hugging Face: local folders as they are, names of the hub only with their revision."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
from huggingface_hub import errors

from quartet import hugging_face
from quartet.errors import InputError
from tests.bert import save_bert, transformers


def test_a_folder_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", None)
    folder = tmp_path / "owner@home"
    folder.mkdir()
    assert hugging_face.local_folder(str(folder)) == folder


@pytest.mark.parametrize("reference", ["a/b/c@1", "/nowhere/model", "./model@1", "two words@1", "..@1", ""])
def test_what_is_neither_a_folder_nor_a_name_is_refused(reference: str) -> None:
    with pytest.raises(InputError, match="no such folder; give a folder, or owner/name@revision"):
        hugging_face.local_folder(reference)


@pytest.mark.parametrize("reference", ["bert-base-uncased", "google-bert/bert-base-uncased", "owner/name@"])
def test_a_name_without_its_revision_is_refused(reference: str) -> None:
    name = reference.rstrip("@")
    with pytest.raises(InputError, match=f"reproducible; write {name}@REVISION"):
        hugging_face.local_folder(reference)


class Hub:
    """A hub with one model, in the place of `snapshot_download`."""

    def __init__(self, folder: Path, files: list[str]) -> None:
        self.folder = folder
        self.files = files
        self.calls: list[tuple[str, str]] = []

    def __call__(self, name: str, *, revision: str, allow_patterns: list[str]) -> str:
        self.calls.append((name, revision))
        for path in self.files:
            if any(fnmatch(path, pattern) for pattern in allow_patterns):
                (self.folder / path).write_text(path)
        return str(self.folder)

    @property
    def fetched(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


SETTINGS = ["config.json", "tokenizer.json", "vocab.txt"]
OTHERS = ["tf_model.h5", "flax_model.msgpack", "README.md", "onnx/model.onnx", "training_args.bin"]


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (["pytorch_model.bin"], ["pytorch_model.bin"]),
        (
            [
                "model.safetensors.index.json",
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
            ],
            [
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
                "model.safetensors.index.json",
            ],
        ),
    ],
)
def test_only_what_is_needed_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: list[str], wanted: list[str]
) -> None:
    hub = Hub(tmp_path, [*SETTINGS, *OTHERS, *weights])
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub)
    assert hugging_face.local_files("owner/name@1a2b", ("vocab.txt",)) == tmp_path
    assert hub.fetched == ["vocab.txt"]
    assert hugging_face.local_folder("owner/name@1a2b", weights=False) == tmp_path
    assert hub.fetched == ["tokenizer.json", "vocab.txt"]
    assert hugging_face.local_folder("owner/name@1a2b") == tmp_path
    assert hub.fetched == sorted([*SETTINGS, *wanted])
    assert hugging_face.local_folder("owner/name@1a2b", others=("README.md",)) == tmp_path
    assert hub.fetched == sorted([*SETTINGS, "README.md", *wanted])
    assert set(hub.calls) == {("owner/name", "1a2b")}


def _answer(kind: type[errors.HfHubHTTPError]) -> errors.HfHubHTTPError:
    error = kind.__new__(kind)  # without the answer of a server
    error.args = ("404 Client Error. And more\nURL: …",)
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (lambda: _answer(errors.RepositoryNotFoundError), "no such model, or none that you may read"),
        (lambda: _answer(errors.GatedRepoError), "no such model, or none that you may read"),
        (lambda: errors.HFValidationError("bad"), "no such model"),
        (lambda: _answer(errors.RevisionNotFoundError), "owner/name has no revision 1a2b"),
        (
            lambda: errors.LocalEntryNotFoundError("Cannot reach it. Try again.\nLater"),
            r"\(Cannot reach it\); check",
        ),
        (lambda: errors.OfflineModeIsEnabled("offline"), r"\(offline\); check the network, or download"),
        (lambda: OSError(28, "No space left on device"), "No space left"),
    ],
)
def test_what_the_hub_answers_becomes_one_line(
    monkeypatch: pytest.MonkeyPatch, error: Callable[[], Exception], reason: str
) -> None:
    def fail(*_: Any, **__: Any) -> str:
        raise error()

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(InputError, match=reason) as caught:
        hugging_face.local_folder("owner/name@1a2b")
    assert str(caught.value).startswith("owner/name@1a2b: ")


def test_the_hash_is_that_of_weights_configuration_and_tokenizer(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_text(name)
    first = hugging_face.content_hash(tmp_path)
    (tmp_path / "README.md").write_text("words")
    (tmp_path / "pytorch_model.bin").write_text("the same weights, in another form")
    assert hugging_face.content_hash(tmp_path) == first
    seen = {first}
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_text("changed")
        seen.add(hugging_face.content_hash(tmp_path))
    (tmp_path / "tokenizer.json").rename(tmp_path / "vocab.json")
    seen.add(hugging_face.content_hash(tmp_path))
    assert len(seen) == 5


@pytest.mark.parametrize(
    "files", [[], ["config.json"], ["model.safetensors"], ["config.json", "tf_model.h5"]]
)
def test_a_folder_without_a_model_has_no_hash(tmp_path: Path, files: list[str]) -> None:
    for name in files:
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match="not a model of Hugging Face"):
        hugging_face.content_hash(tmp_path)


def test_without_the_extra_the_remedy_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(InputError, match=r"not installed.*pip install -e '\.\[hf\]'"):
        hugging_face.transformers()


def test_a_model_opens_whole_and_leaves_the_random_state(tmp_path: Path) -> None:
    saved = save_bert(tmp_path)
    before = torch.get_rng_state()
    opened = hugging_face.open_model(tmp_path, "AutoModelForMaskedLM")
    assert torch.equal(torch.get_rng_state(), before)
    assert not opened.training
    assert all(torch.equal(ours, saved.state_dict()[name]) for name, ours in opened.state_dict().items())
    assert hugging_face.model_type(tmp_path) == "bert"


def test_weights_that_transformers_would_make_up_are_missed(tmp_path: Path) -> None:
    whole = save_bert(tmp_path / "whole")
    whole.bert.save_pretrained(tmp_path / "headless")
    with pytest.raises(
        InputError, match=r"lacks \d+ of the weights of BertForMaskedLM, among them cls\.predictions"
    ):
        hugging_face.open_model(tmp_path / "headless", "AutoModelForMaskedLM")


def test_broken_folders_are_refused_in_one_line(tmp_path: Path) -> None:
    save_bert(tmp_path)
    weights = tmp_path / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    _refused(tmp_path, "cannot be opened as AutoModelForMaskedLM")
    weights.unlink()
    _refused(tmp_path, "not a model of Hugging Face")
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps({"harm": Path("/")}, protocol=2))
    _refused(tmp_path, "Weights only load failed")
    weights.write_bytes(whole)
    config = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(config.replace('"hidden_size": 24', '"hidden_size": 32'))
    _refused(tmp_path, r"config\.json asks for another shape of bert\.embeddings")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="says no model_type"):
        hugging_face.model_type(tmp_path)


def _refused(folder: Path, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        hugging_face.open_model(folder, "AutoModelForMaskedLM")
    assert len(str(caught.value)) < 400 + len(str(folder))


def test_pickled_weights_are_read_as_weights(tmp_path: Path) -> None:
    saved = save_bert(tmp_path)
    torch.save(saved.state_dict(), tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    opened = hugging_face.open_model(tmp_path, "AutoModelForMaskedLM")
    assert torch.equal(opened.cls.predictions.bias, saved.cls.predictions.bias)


def test_the_library_is_quiet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save_bert(tmp_path)
    capfd.readouterr()
    hugging_face.open_model(tmp_path, "AutoModelForMaskedLM")
    assert capfd.readouterr() == ("", "")
    assert transformers() is not None


def test_a_tokenizer_of_several_files_is_whole(tmp_path: Path) -> None:
    """BERTweet's merges are in a file of a name that no other tokenizer has."""
    given, copied = tmp_path / "given", tmp_path / "copied"
    copied.mkdir()
    save_bert(given)
    for name in hugging_face.TOKENIZER_FILES:
        for path in given.glob(name):
            path.unlink()
    vocabulary, merges = given / "vocab.txt", given / "bpe.codes"
    vocabulary.write_text("".join(f"{piece} 1\n" for piece in ("t@@", "he", "the", "a@@", "c@@")))
    merges.touch()
    transformers().BertweetTokenizer(str(vocabulary), str(merges)).save_pretrained(given)
    merges.write_text("h e</w> 1\nt he</w> 1\n")
    for path in hugging_face.model_files(given):
        shutil.copy(path, copied)
    tokens = [hugging_face.open_tokenizer(folder).tokenize("the he") for folder in (given, copied)]
    assert tokens == [["the", "he"]] * 2


@pytest.mark.parametrize(
    "tokenizer",
    [
        "BertTokenizer",
        "GPT2Tokenizer",
        "AlbertTokenizer",
        "DebertaV2Tokenizer",
        "RemBertTokenizer",
        "CamembertTokenizer",
        "BertweetTokenizer",
        "GPTNeoXJapaneseTokenizer",
        "LukeTokenizer",
        "RoCBertTokenizer",
    ],
)
def test_all_files_of_a_tokenizer_belong_to_its_model(tokenizer: str, tmp_path: Path) -> None:
    """As transformers names them."""
    names = set(getattr(transformers(), tokenizer).vocab_files_names.values())
    for name in {"config.json", "model.safetensors", "notes.txt"} | names:
        (tmp_path / name).touch()
    found = {path.name for path in hugging_face.model_files(tmp_path)}
    assert found == {"config.json", "model.safetensors"} | names
