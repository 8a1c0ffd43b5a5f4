"""Lists of audio in four formats say the same, and what is wrong with one is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.recognise.utterances import FORMATS, Utterance, read_utterances

NAMES = ("84-1-0000", "84-1-0001", "90-2-0000")
TEXTS = ("A CAT SAT", "", "THE DOG")


def audio_of(folder: Path, name: str) -> Path:
    speaker, chapter, _ = name.split("-")
    return folder / speaker / chapter / f"{name}.flac"


def librispeech(folder: Path) -> Path:
    for name, text in zip(NAMES, TEXTS, strict=True):
        path = audio_of(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        with (path.parent / f"{path.parent.parent.name}-{path.parent.name}.trans.txt").open("a") as file:
            file.write(f"{name} {text}".rstrip() + "\n")
    return folder


def tsv(folder: Path) -> Path:
    path = folder / "list.tsv"
    rows = [f"{name}\t{audio_of(Path(), name)}\t{text}" for name, text in zip(NAMES, TEXTS, strict=True)]
    path.write_text("\n".join(["utt\taudio\tref", *rows]) + "\n")
    return path


def jsonl(folder: Path) -> Path:
    path = folder / "list.jsonl"
    rows = [
        json.dumps({"utt": name, "audio": str(audio_of(Path(), name)), "ref": text})
        for name, text in zip(NAMES, TEXTS, strict=True)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def kaldi(folder: Path) -> Path:
    (folder / "wav.scp").write_text("".join(f"{name} {audio_of(folder, name)}\n" for name in NAMES))
    (folder / "text").write_text("".join(f"{n} {t}\n" for n, t in zip(NAMES, TEXTS, strict=True)))
    return folder


MAKERS = {"librispeech": librispeech, "tsv": tsv, "jsonl": jsonl, "kaldi": kaldi}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_names_the_same(tmp_path: Path, kind: str) -> None:
    found = read_utterances(kind, MAKERS[kind](tmp_path))
    texts = [text if text or kind != "tsv" else None for text in TEXTS]  # an empty cell is no reference
    assert found == [
        Utterance(name, audio_of(tmp_path, name), text) for name, text in zip(NAMES, texts, strict=True)
    ]


def test_references_may_be_missing(tmp_path: Path) -> None:
    (kaldi(tmp_path) / "text").unlink()
    lists = {
        "list.tsv": "audio\tutt\na.wav\ta\n",
        "list.jsonl": '{"utt": "a", "audio": "a.wav", "ref": null}',
    }
    assert {each.reference for each in read_utterances("kaldi", tmp_path)} == {None}
    for name, text in lists.items():
        (tmp_path / name).write_text(text)
        kind = name.partition(".")[2]
        assert read_utterances(kind, tmp_path / name) == [Utterance("a", tmp_path / "a.wav")]


def test_an_absolute_path_stays_one(tmp_path: Path) -> None:
    (tmp_path / "list.tsv").write_text("utt\taudio\na\t/data/a.wav\n")
    assert read_utterances("tsv", tmp_path / "list.tsv")[0].audio == Path("/data/a.wav")


#: Format, content, what is said of it.
MISTAKES = {
    "no header": ("tsv", "a\ta.wav\tx\n", "1: the header is a, a.wav, x; write utt, audio"),
    "another column": ("tsv", "utt\taudio\ttext\n", "1: the header is utt, audio, text"),
    "a cell too many": ("tsv", "utt\taudio\na\ta.wav\tx\n", "2: 3 cells where the header has 2"),
    "twice": ("tsv", "utt\taudio\na\ta.wav\n\na\tb.wav\n", '4: utterance "a" occurs twice'),
    "no name": ("tsv", "utt\taudio\n\ta.wav\n", "2: an utterance needs a name and an audio file"),
    "no file": ("tsv", "utt\taudio\na\t\n", "2: an utterance needs a name and an audio file"),
    "an empty name": ("jsonl", '{"utt": "", "audio": "a.wav"}\n', "1: an utterance needs a name"),
    "cut": ("tsv", "utt\taudio\na\ta.wa", "2: the last line does not end"),
    "empty": ("tsv", "", " names no utterance"),
    "header alone": ("tsv", "utt\taudio\n", " names no utterance"),
    "no JSON": ("jsonl", '{"utt": "a"', "1:.*not valid JSON"),
    "no object": ("jsonl", "[1]\n", "1: an object was expected, not a list"),
    "no audio": ("jsonl", '{"utt": "a"}\n', '1: has no "audio"'),
    "key twice": ("jsonl", '{"utt": "a", "utt": "b", "audio": "a.wav"}\n', '1: the key "utt" occurs twice'),
    "unknown key": ("jsonl", '{"utt": "a", "audio": "a.wav", "text": "x"}\n', '1: unknown key "text"'),
    "a number": ("jsonl", '{"utt": 1, "audio": "a.wav"}\n', "1, utt: a text was expected, not a number"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_malformed_list_is_refused_with_its_line(tmp_path: Path, mistake: str) -> None:
    kind, content, said = MISTAKES[mistake]
    path = tmp_path / f"list.{kind}"
    path.write_text(content)
    with pytest.raises(InputError, match=f"list.{kind}:{said}"):
        read_utterances(kind, path)


def test_broken_bytes_are_named(tmp_path: Path) -> None:
    (tmp_path / "list.tsv").write_bytes(b"utt\taudio\na\t\xff.wav\n")
    with pytest.raises(InputError, match="line 2: byte 0xff is not UTF-8"):
        read_utterances("tsv", tmp_path / "list.tsv")


def test_librispeech_must_be_whole(tmp_path: Path) -> None:
    folder = librispeech(tmp_path / "dev-clean")
    with pytest.raises(InputError, match="give the folder of one of LibriSpeech's sets"):
        read_utterances("librispeech", tmp_path)
    (folder / "84" / "1" / "84-1-0002.flac").touch()
    with pytest.raises(InputError, match=r"84-1\.trans\.txt: has no line for 84-1-0002\.flac"):
        read_utterances("librispeech", folder)


def test_what_kaldi_would_do_with_commands_and_segments_is_not_done(tmp_path: Path) -> None:
    kaldi(tmp_path)
    scp = tmp_path / "wav.scp"
    listed = scp.read_text()
    scp.write_text(listed.replace(".flac\n", ".flac |\n", 1))
    with pytest.raises(InputError, match=r"wav\.scp:1: commands are not run"):
        read_utterances("kaldi", tmp_path)
    scp.write_text("84-1-0000\n")
    with pytest.raises(InputError, match=r"wav\.scp:1: an utterance needs a name and an audio file"):
        read_utterances("kaldi", tmp_path)
    scp.write_text(listed.partition("\n")[2])
    with pytest.raises(InputError, match=r'text: utterance "84-1-0000" is not in wav\.scp'):
        read_utterances("kaldi", tmp_path)
    (tmp_path / "segments").touch()
    with pytest.raises(InputError, match="audio is not cut at segments"):
        read_utterances("kaldi", tmp_path)
