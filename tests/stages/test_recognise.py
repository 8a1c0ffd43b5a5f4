"""recognise: audio becomes N-best lists with their provenance, which the stage nbest reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stages.nbest
from pipeline.layout import MANIFEST, Layout
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.files import read_json, read_jsonl, sha256
from quartet.nbest.formats import NBestFiles, read
from quartet.recognise.utterances import read_utterances
from stages.recognise import recognise
from tests.recognise import speech_toy
from tests.recognise.speech_toy import sound, write_sound
from tests.stages.test_set_stages import change

NAME = "toy-whisper"
SECTION = """
recognisers:
  toy-whisper:
    engine: transformers
    source: whisper
    batch: 2
    beam: {size: 4, max_tokens: 16}
    audio: {format: librispeech, folder: speech, dev: dev-clean, test: test-clean}
"""
LISTS = """
  toy-speech:
    origin: toy-whisper on chords
    format: mlm-scoring
    folder: artifacts/tiny/recognised/toy-whisper
    dev: dev.json
    test: test.json
    metric: wer
    normalise: {lowercase: true, strip_punctuation: true}
"""


@pytest.fixture
def layout(workspace: Path) -> Layout:
    """The preset tiny with a recogniser, its model, and LibriSpeech's layout of a few chords."""
    path = workspace / "params.yaml"
    text = path.read_text().replace("recognisers: {}\n", "").replace("\nnbest:\n", f"\nnbest:{LISTS}")
    path.write_text(text + SECTION)
    speech_toy.save_whisper(workspace / "whisper")
    for split, count in (("dev", 3), ("test", 2)):
        chapter = workspace / "speech" / f"{split}-clean" / "84" / "1"
        lines = []
        for number in range(count):
            write_sound(chapter / f"84-1-{number:04d}.flac", sound(number + 10 * count, 0.5))
            lines.append(f"84-1-{number:04d} A CHORD\n")
        (chapter / "84-1.trans.txt").write_text("".join(lines))
    return Layout("tiny")


def test_lists_and_their_provenance(layout: Layout, workspace: Path) -> None:
    recognise(NAME)
    folder = layout.recognised(NAME)
    manifest = read_json(folder / MANIFEST)
    for split, count in (("dev", 3), ("test", 2)):
        lists = read("mlm-scoring", NBestFiles(folder / f"{split}.json")).lists
        assert [one.utterance for one in lists] == [f"84-1-{number:04d}" for number in range(count)]
        assert {one.reference for one in lists} == {"A CHORD"}
        said = manifest[split]
        assert said["sha256"] == sha256(folder / f"{split}.json")
        assert (said["lists"], said["references"], said["too_long"]) == (count, count, [])
        assert said["hours"] == pytest.approx(count * 0.5 / 3600)
        assert said["hypotheses"] == sum(len(one.hypotheses) for one in lists)
        assert said["hypotheses"] + said["merged_hypotheses"] + said["unended_hypotheses"] == count * 4
        assert said["source"]["list"] == f"{split}-clean"
        noted = {row["name"]: row for _, row in read_jsonl(layout.timing("recognise", NAME))}
        assert noted[f"search/{split}"]["utterances"] == count
    assert manifest["dev"]["source"]["audio_sha256"] != manifest["test"]["source"]["audio_sha256"]
    assert manifest["model"]["source"] == "whisper"
    assert len(manifest["model"]["sha256"]) == 64
    assert manifest["beam"] == {"size": 4, "max_tokens": 16, "words_only": False, "length_penalty": 0.0}
    assert set(manifest["versions"]) == {"soundfile", "tokenizers", "torch", "transformers"}

    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    recognise(NAME)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    stages.nbest.nbest("toy-speech")
    (first, *_) = [row for _, row in read_jsonl(layout.nbest("toy-speech") / "dev.jsonl")]
    assert (first["utt"], first["ref"]) == ("84-1-0000", "A CHORD")


def test_long_audio_ends_it_or_is_named(layout: Layout, workspace: Path) -> None:
    chapter = workspace / "speech" / "dev-clean" / "84" / "1"
    write_sound(chapter / "84-1-0001.flac", sound(1, 1.5))
    with pytest.raises(
        InputError, match=r'utterance "84-1-0001": .* 1\.50 s, and the model takes 1 s at most'
    ):
        recognise(NAME)
    assert not layout.recognised(NAME).exists()
    change(workspace, "test: test-clean}", "test: test-clean, skip_long: true}")
    recognise(NAME)
    said = read_json(layout.recognised(NAME) / MANIFEST)["dev"]
    assert (said["too_long"], said["lists"]) == (["84-1-0001"], 2)


def test_audio_that_comes_meanwhile_is_not_left_out_for_good(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*given: Any) -> Any:
        found = read_utterances(*given)
        write_sound(workspace / "speech" / "dev-clean" / "84" / "1" / "84-1-0009.flac", sound(9, 0.5))
        return found

    monkeypatch.setattr("stages.recognise.read_utterances", slow)
    with pytest.raises(InputError, match=r"84-1-0009\.flac: changed while the stage read it"):
        recognise(NAME)
    assert not layout.recognised(NAME).exists()


def test_mistakes_are_named(layout: Layout, workspace: Path) -> None:
    with pytest.raises(
        InputError, match="has no entry 'toy-whispr'; the nearest known name is 'toy-whisper'"
    ):
        recognise("toy-whispr")
    change(workspace, "format: librispeech", "format: librispech")
    with pytest.raises(
        InputError, match=r"recognisers\.toy-whisper\.audio\.format: unknown format 'librispech'"
    ):
        recognise(NAME)
    change(workspace, "engine: transformers", "engine: whisper")
    with pytest.raises(InputError, match=r"recognisers\.toy-whisper\.engine"):
        read_params()


def test_settings_without_recognisers_are_settings(workspace: Path) -> None:
    assert read_params().recognisers == {}
