"""A format that is not named is told by the content where it is plain, and else the candidates are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import FORMATS, NBestFiles, read
from tests.reliability.malformed.rows import valid

TABBED = b"u-1\t-1\nu-2\t-2\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_told(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "lists"
    whole = valid(f"nbest/{name}")
    path.write_bytes(gzip.compress(whole) if packed else whole)
    files = NBestFiles(path, beam=2 if name == "nemo" else None)
    assert read(None, files) == read(name, files)


def test_a_format_of_one_value_over_several_lines_or_one_line(tmp_path: Path) -> None:
    path = tmp_path / "lists"
    path.write_text('{\n "u1": {\n  "hyp_1": {"score": -1, "text": "a"}\n }\n}\n')
    assert read(None, NBestFiles(path)) == read("mlm-scoring", NBestFiles(path))
    path.write_text(
        '\n{"utt": "u1", "hypotheses": [{"text": "a"}]}\n'
    )  # an empty line is none of the format's
    assert read(None, NBestFiles(path)) == read("jsonl", NBestFiles(path))
    path.write_text('{"utts": {"hyp_1": {"text": "a", "score": -1}}}')  # an utterance that is called utts
    assert read(None, NBestFiles(path)).lists[0].utterance == "utts"


def test_a_beam_may_begin_with_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lists"
    path.write_text("\t-1.0\nthe cat\t-2.0\n")
    (one,) = read(None, NBestFiles(path, beam=2)).lists
    assert [(each.text, each.score) for each in one.hypotheses] == [("", -1.0), ("the cat", -2.0)]


def test_what_fits_two_is_refused_until_something_else_tells(tmp_path: Path) -> None:
    path, costs = tmp_path / "lists", tmp_path / "costs"
    path.write_bytes(TABBED)
    costs.write_bytes(b"u-1 1\nu-2 2\n")
    with pytest.raises(InputError, match="may be kaldi or nemo; name the format"):
        read(None, NBestFiles(path))
    assert read(None, NBestFiles(path, beam=2)) == read("nemo", NBestFiles(path, beam=2))
    with_costs = NBestFiles(path, ((costs, 1.0),))
    assert read(None, with_costs) == read("kaldi", with_costs)
    for name in ("kaldi", "nemo"):  # the remedy
        assert len(read(name, NBestFiles(path, beam=2 if name == "nemo" else None)).lists) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no N-best list"),
        (b" \n", "holds no N-best list"),
        (b"the cat\na cat\n", "does not look like lists in any known format; name the format"),
        (b'{"audio_filepath": "a.wav", "text": "a"}\n', "does not look like lists"),
        (b"[1, 2]", "does not look like lists"),
        (b'{"u1": {"hyp_1": {"sco', r"lists:1:\d+: not valid JSON"),
        (b'\n\n{"u1": {"hyp_1": {"sco', r"lists:3:\d+: not valid JSON"),
        (b"u1\t\xff\n", "is not UTF-8"),
        ("0 ||| a ||| f ||| -1\n".encode("utf-16-le"), "lists:1: a NUL byte: .*; if so: iconv -f UTF-16LE"),
        ('{"u1": {}}\n'.encode("utf-16-be"), "lists:1: a NUL byte: .*; if so: iconv -f UTF-16BE"),
        (b"0 ||| a ||| f ||| -1\n0 ||| b ||| f ||| x\n", 'lists:2: a finite number .* not "x"'),
        (b"a\t-1\nb\t-2\n", "the format nemo needs to be told the beam"),
    ],
)
def test_what_is_none_is_refused_and_what_is_malformed_named(
    content: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / "lists").write_bytes(content)
    with pytest.raises(InputError, match=said):
        read(None, NBestFiles(tmp_path / "lists"))
