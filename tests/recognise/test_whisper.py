"""What a folder must hold to be a Whisper, and the settings that go with it: all else is refused in one line."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from quartet import hugging_face
from quartet.config.recognise import PRECISIONS, Engine, RecogniserConfig, SpeechBeamConfig
from quartet.errors import InputError
from quartet.files import read_json, write_json
from quartet.recognise.speech import open_recogniser
from quartet.recognise.whisper import FeatureExtractor
from quartet.recognise.whisper_ctranslate2 import _ids
from tests.bert import save_bert
from tests.recognise.speech_toy import sound

#: What decides a transcript, by engine.
FILES: dict[Engine, set[str]] = {
    "transformers": {
        "model.safetensors", "generation_config.json", "preprocessor_config.json", "tokenizer.json"
    },
    "ctranslate2": {"model.bin", "config.json", "vocabulary.json", "tokenizer.json"},
}  # fmt: skip


def opened(folder: Path, engine: Engine = "transformers", **changes: Any) -> Any:
    given: dict[str, Any] = {"beam": SpeechBeamConfig(size=2, max_tokens=8), **changes}
    return open_recogniser(RecogniserConfig(engine=engine, source=str(folder), **given), "cpu", 1)


@pytest.fixture
def saved(toy_whisper: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(toy_whisper, tmp_path / "saved"))


@pytest.fixture
def for_ctranslate2(toy_converted: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(toy_converted, tmp_path / "converted"))


def test_the_hash_is_of_all_that_decides_a_transcript(saved: Path, for_ctranslate2: Path) -> None:
    folders: dict[Engine, Path] = {"transformers": saved, "ctranslate2": for_ctranslate2}
    for engine, folder in folders.items():
        first = opened(folder, engine).content
        (folder / "README.md").write_text("not a part of it")
        assert opened(folder, engine).content == first
        assert all((folder / name).is_file() for name in FILES[engine])


def test_of_the_hub_all_that_decides_a_transcript_is_asked_for(
    saved: Path, for_ctranslate2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: dict[Engine, Path] = {"transformers": saved, "ctranslate2": for_ctranslate2}
    for engine, folder in folders.items():
        found: set[str] = set()

        def downloaded(
            name: str,
            revision: str,
            patterns: tuple[str, ...],
            folder: Path = folder,
            found: set[str] = found,
        ) -> Path:
            found.update(path.name for pattern in patterns for path in folder.glob(pattern))
            return folder

        monkeypatch.setattr(hugging_face, "_downloaded", downloaded)
        opened(Path("owner/name@abc"), engine)
        assert found >= FILES[engine]


def test_a_changed_setting_of_the_model_is_another_model(saved: Path) -> None:
    first = opened(saved).content
    path = saved / "generation_config.json"
    write_json(path, {**read_json(path), "suppress_tokens": [0]})
    assert opened(saved).content != first


@pytest.mark.parametrize("name", ["model.bin", "config.json", "tokenizer.json"])
def test_a_converted_model_must_be_whole(for_ctranslate2: Path, name: str) -> None:
    (for_ctranslate2 / name).unlink()
    with pytest.raises(InputError, match=f"no Whisper for CTranslate2: it has no {name}; convert one with"):
        opened(for_ctranslate2, "ctranslate2")


def test_broken_files_of_a_converted_model_are_named(for_ctranslate2: Path) -> None:
    weights = for_ctranslate2 / "model.bin"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match="converted: cannot be opened"):
        opened(for_ctranslate2, "ctranslate2")


@pytest.mark.parametrize(
    ("name", "content"), [("vocabulary.json", '["a", "b", "c"]'), ("vocabulary.txt", "a\nb\nc\n")]
)
def test_a_converted_model_has_as_many_ids_as_its_vocabulary_tokens(
    name: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    assert _ids(tmp_path) == 3


def test_other_models_are_no_whisper(tmp_path: Path, saved: Path) -> None:
    (tmp_path / "bert").mkdir()
    save_bert(tmp_path / "bert")
    with pytest.raises(InputError, match="bert: a bert is no Whisper"):
        opened(tmp_path / "bert")
    with pytest.raises(InputError, match="no Whisper for CTranslate2"):
        opened(saved, "ctranslate2")


def test_files_must_belong_together(saved: Path, toy_whisper: Path) -> None:
    path = saved / "preprocessor_config.json"
    own = read_json(path)
    write_json(path, {**own, "feature_size": 128})
    with pytest.raises(InputError, match="makes 128 features at 16000 Hz where the model needs 80"):
        opened(saved)
    path.unlink()  # the features of OpenAI's models are of thirty seconds
    with pytest.raises(InputError, match="makes 3000 frames and the model reads 100"):
        opened(saved)
    assert FeatureExtractor(saved, 128).seconds == 30
    path.write_text("{")
    with pytest.raises(InputError, match=r"preprocessor_config\.json: cannot be used"):
        opened(saved)


def test_a_tokenizer_of_another_model_is_refused(saved: Path) -> None:
    files = {path: path.read_text() for path in saved.glob("tokenizer*.json")}
    for path, content in files.items():
        path.write_text(content.replace("<|notimestamps|>", "<|timestamps|>"))
    with pytest.raises(InputError, match=r"has no <\|notimestamps\|>"):
        opened(saved)
    for path, content in files.items():
        path.write_text(content)
    settings = read_json(saved / "config.json")
    write_json(saved / "config.json", {**settings, "vocab_size": 300})
    with pytest.raises(InputError, match=r"config\.json asks for another shape"):
        opened(saved)


def test_more_tokens_than_places_are_refused(toy_whisper: Path) -> None:
    beam = SpeechBeamConfig(size=2, max_tokens=63)
    with pytest.raises(InputError, match=r"has places for 62 tokens; set beam\.max_tokens to 62 at most"):
        opened(toy_whisper, beam=beam)
    assert opened(toy_whisper, beam=SpeechBeamConfig(size=2, max_tokens=62)).recognise([sound(1)])


def test_a_precision_that_the_device_has_not_is_refused(toy_converted: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be opened: .*float16.*check its files and precision"):
        opened(toy_converted, "ctranslate2", precision="float16")
    (found,) = opened(toy_converted, "ctranslate2", precision="int8").recognise([sound(1)])
    (exact,) = opened(toy_converted, "ctranslate2").recognise([sound(1)])
    assert found != exact


def test_half_precision_of_transformers_is_another_score(toy_whisper: Path) -> None:
    (found,) = opened(toy_whisper, precision="bfloat16").recognise([sound(1)])
    (exact,) = opened(toy_whisper).recognise([sound(1)])
    assert found[0].score != exact[0].score
    assert found[0].score == pytest.approx(exact[0].score, abs=0.5)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match=r"the engine ctranslate2 needs it .*pip install -e '\.\[speech\]'"):
        opened(tmp_path, "ctranslate2")


def test_a_name_on_the_hub_needs_its_revision() -> None:
    for engine in PRECISIONS:
        with pytest.raises(InputError, match="needs its revision"):
            opened(Path("owner/name"), engine)


def test_a_precision_belongs_to_its_engine() -> None:
    with pytest.raises(ValueError, match="with transformers it is one of float32, float16, bfloat16"):
        RecogniserConfig(engine="transformers", source="a", precision="int8")
