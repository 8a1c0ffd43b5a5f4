"""Our own JSON lines: exact round trip, the same bytes, and named errors."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats.jsonl import read, write
from quartet.nbest.types import Hypothesis, NBest
from tests.nbest.lists import SMALL, lists_of, nbest, random_lists


def test_round_trip_and_equal_bytes(tmp_path: Path) -> None:
    lists = lists_of("mlm-scoring", SMALL) + random_lists(60, seed=2)
    write(tmp_path / "a.jsonl", lists)
    assert lists_of("jsonl", tmp_path / "a.jsonl") == lists
    write(tmp_path / "b.jsonl", read(tmp_path / "a.jsonl"))
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_round_trip_of_awkward_texts_and_of_ranks(tmp_path: Path) -> None:
    texts = ["", " ", "a\u2028b", 'quote " and \\', "tab\tline\nreturn\r", "😀"]
    lists = [
        NBest("line\nbreak", tuple(Hypothesis(text) for text in texts), "\u0085"),
        nbest("v", None, ("a", None)),
    ]
    write(tmp_path / "a.jsonl", lists)
    assert read(tmp_path / "a.jsonl") == lists


def test_gzip_blank_lines_and_null_reference(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    line = (
        b'{"utt": "%d", "ref": null, "meta": [1], "hypotheses": [{"text": "a", "score": -1, "meta": 0}]}\r\n'
    )
    path.write_bytes(gzip.compress(line % 1 + b"\n" + line % 2))
    assert read(path) == [nbest("1", None, ("a", -1.0)), nbest("2", None, ("a", -1.0))]


GOOD = '{"utt": "u", "hypotheses": [{"text": "a", "score": -1}]}\n'
MALFORMED = {
    "empty": ("\n\n", "holds no N-best list"),
    "no name": ('{"hypotheses": [{"text": "a"}]}', 'a.jsonl:1: has no "utt"'),
    "name is a number": ('{"utt": 3, "hypotheses": [{"text": "a"}]}', "a.jsonl:1, utt: a text was expected"),
    "not an object": (GOOD + "[]\n", "a.jsonl:2: an object was expected, not a list"),
    "syntax": (GOOD + '{"utt": "v", x}\n', "a.jsonl:2:14: not valid JSON"),
    "no hypotheses": (GOOD + '{"utt": "v"}', 'a.jsonl:2: utterance "v": has no hypothesis'),
    "hypotheses is an object": (
        '{"utt": "v", "hypotheses": {}}',
        "hypotheses: a list was expected, not an object",
    ),
    "hypothesis is a text": ('{"utt": "v", "hypotheses": ["a"]}', "hypothesis 1: an object was expected"),
    "twice": (GOOD + "\n" + GOOD, 'a.jsonl:3: utterance "u": occurs twice, first on line 1'),
    "key twice": ('{"utt": "u", "utt": "v", "hypotheses": []}', 'the key "utt" occurs twice'),
    "misspelt score": ('{"utt": "u", "hypotheses": [{"text": "a", "scores": -1}]}', 'unknown key "scores"'),
    "misspelt ref": (
        '{"utt": "u", "reference": "a", "hypotheses": [{"text": "a"}]}',
        'unknown key "reference"',
    ),
    "NaN": (
        '{"utt": "u", "hypotheses": [{"text": "a", "score": NaN}]}',
        "hypothesis 1, score: the score is nan",
    ),
    "mixed": (GOOD + '{"utt": "v", "hypotheses": [{"text": "a"}]}', 'utterance "v": has no scores'),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_lines_are_named(name: str, tmp_path: Path) -> None:
    content, expected = MALFORMED[name]
    path = tmp_path / "a.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_cut_at_any_byte_is_refused_or_holds_whole_lists(tmp_path: Path) -> None:
    lists = [
        nbest("a", "b c", ("b c", -1.5), ("é", -2.0)),
        nbest("d", None, ("", -0.25)),
        nbest("e", "", ("f", -1.0)),
    ]
    write(tmp_path / "a.jsonl", lists)
    data = (tmp_path / "a.jsonl").read_bytes()
    whole = 0
    for length in range(len(data)):
        (tmp_path / "cut.jsonl").write_bytes(data[:length])
        try:
            found = read(tmp_path / "cut.jsonl")
        except InputError:
            continue
        assert found == lists[: len(found)]
        whole += 1
    assert whole == 2 * len(lists) - 1  # after each closing bracket, and after each line end but the last
