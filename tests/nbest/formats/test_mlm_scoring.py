"""The mlm-scoring reader: what is legal is read exactly, what is malformed is named, nothing is guessed."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.types import NBest
from tests.nbest.lists import SMALL, lists_of, nbest, random_lists

EXPECTED = [
    nbest(
        "harbour",
        "the boats came back before dark",
        ("the boat came back before dark", -3.25),
        ("the boats came bag before dark", -3.5),
        ("the boats came back before dark", -4.0),
    ),
    nbest("silence", "", ("", -0.5), ("you", -2.0)),
    nbest("unknown", None, ("nobody wrote down what was said", -1.0), ("", -1.5)),
    nbest("alone", "It’s a café", ("It's a café.", -0.125)),
]


def read(path: Path) -> list[NBest]:
    return lists_of("mlm-scoring", path)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def as_json(lists: list[NBest]) -> str:
    root = {}
    for one in lists:
        entry: dict[str, object] = {} if one.reference is None else {"ref": one.reference}
        for number, hypothesis in enumerate(one.hypotheses, start=1):
            entry[f"hyp_{number}"] = {"score": hypothesis.score, "text": hypothesis.text}
        root[one.utterance] = entry
    return json.dumps(root)


def test_the_reader_reads_every_legal_case() -> None:
    assert read(SMALL) == EXPECTED


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    data = SMALL.read_bytes()
    assert read(written(tmp_path / "a.json.gz", gzip.compress(data))) == EXPECTED
    assert read(written(tmp_path / "packed.json", gzip.compress(data))) == EXPECTED
    assert read(written(tmp_path / "marked.json", b"\xef\xbb\xbf" + data)) == EXPECTED


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    lists = random_lists(60, seed=1)
    assert read(written(tmp_path / "a.json", as_json(lists))) == lists


def test_ten_hypotheses_are_ordered_by_number_not_by_text(tmp_path: Path) -> None:
    entry = {f"hyp_{number}": {"text": str(number)} for number in (10, 2, 1, 3, 9, 8, 4, 7, 5, 6)}
    (one,) = read(written(tmp_path / "a.json", json.dumps({"u": entry})))
    assert one.ranked_only
    assert [hypothesis.text for hypothesis in one.hypotheses] == [str(number) for number in range(1, 11)]


def test_hypotheses_may_stand_in_an_object_of_their_own(tmp_path: Path) -> None:
    hypotheses = {"hyp_2": {"score": -2.0, "text": "b"}, "hyp_1": {"score": -1, "text": "a", "cer": 0.5}}
    path = written(tmp_path / "a.json", json.dumps({"u": {"ref": "a", "hyp": hypotheses}}))
    assert read(path) == [nbest("u", "a", ("a", -1.0), ("b", -2.0))]


ONE = '"hyp_1": {"score": -1, "text": "a"}'
MALFORMED: dict[str, tuple[str | bytes, list[str]]] = {
    "no utterance": ("{}", ["holds no N-best list"]),
    "a list": ("[]", ["an object of utterances", "a list"]),
    "utterance is a text": ('{"u": "a"}', ['utterance "u"', "an object"]),
    "no hypothesis": ('{"u": {"ref": "a"}}', ['utterance "u"', "no hypothesis"]),
    "NaN": ('{"u": {"hyp_1": {"score": NaN, "text": "a"}}}', ['"u", hyp_1', "nan"]),
    "infinite": ('{"u": {"hyp_1": {"score": -Infinity, "text": "a"}}}', ['"u", hyp_1', "-inf"]),
    "overflow": ('{"u": {"hyp_1": {"score": 1e999, "text": "a"}}}', ['"u", hyp_1', "inf"]),
    "huge": ('{"u": {"hyp_1": {"score": 1' + "0" * 400 + ', "text": "a"}}}', ['"u", hyp_1', "inf"]),
    "digits": ('{"u": {"hyp_1": {"score": 1' + "0" * 5000 + ', "text": "a"}}}', ["a.json", "digit"]),
    "depth": ("[" * 100_000, ["a.json", "recursion"]),
    "score is a text": ('{"u": {"hyp_1": {"score": "-1", "text": "a"}}}', ['"u", hyp_1, score', "a text"]),
    "score is true": ('{"u": {"hyp_1": {"score": true, "text": "a"}}}', ['"u", hyp_1, score', "true"]),
    "score is null": ('{"u": {"hyp_1": {"score": null, "text": "a"}}}', ['"u", hyp_1, score', "null"]),
    "text is a number": ('{"u": {"hyp_1": {"score": -1, "text": 5}}}', ['"u", hyp_1, text', "a number"]),
    "no text": ('{"u": {"hyp_1": {"score": -1}}}', ['"u", hyp_1', 'no "text"']),
    "hypothesis is a text": ('{"u": {"hyp_1": "a"}}', ['"u", hyp_1', "an object"]),
    "hypothesis is a list": ('{"u": {"hyp_1": ["a", -1]}}', ['"u", hyp_1', "an object"]),
    "reference is a number": ('{"u": {"ref": 3, ' + ONE + "}}", ['"u", ref', "a number"]),
    "surrogate": (
        '{"u": {"hyp_1": {"score": -1, "text": "\\ud800"}}}',
        ['"u", hyp_1, text', "half a surrogate"],
    ),
    "utterance twice": ('{"u": {' + ONE + '}, "u": {' + ONE + "}}", ['utterance "u"', "occurs twice"]),
    "hypothesis twice": ('{"u": {' + ONE + ", " + ONE + "}}", ['utterance "u"', '"hyp_1" occurs twice']),
    "reference twice": ('{"u": {"ref": "a", "ref": "b", ' + ONE + "}}", ['"u"', '"ref" occurs twice']),
    "score twice": (
        '{"u": {"hyp_1": {"score": -1, "score": -2, "text": "a"}}}',
        ['"u", hyp_1', '"score" occurs twice'],
    ),
    "both ways": ('{"u": {"hyp": {' + ONE + "}, " + ONE + "}}", ['"u"', 'beside "hyp"']),
    "hyp is a text": ('{"u": {"hyp": "a"}}', ['"u", hyp', "an object"]),
    "a gap inside": ('{"u": {"hyp": {"hyp_2": {"text": "a"}}}}', ['"u", hyp', "hyp_1 is missing"]),
    "a gap": ('{"u": {' + ONE + ', "hyp_3": {"score": -1, "text": "a"}}}', ['"u"', "hyp_2 is missing"]),
    "from zero": ('{"u": {"hyp_0": {"score": -1, "text": "a"}}}', ['"u"', '"hyp_0"']),
    "a leading zero": ('{"u": {"hyp_01": {"score": -1, "text": "a"}}}', ['"u"', '"hyp_01"']),
    "other digits": ('{"u": {"hyp_\\u0661": {"score": -1, "text": "a"}}}', ['"u"', "is not hyp_1"]),
    "half scored": ('{"u": {' + ONE + ', "hyp_2": {"text": "b"}}}', ['"u"', "hypothesis 2 has no score"]),
    "half the lists scored": (
        '{"u": {' + ONE + '}, "v": {"hyp_1": {"text": "b"}}}',
        ['utterance "v"', "no scores"],
    ),
    "syntax": ('{"u": {' + ONE + "},\n  oops}", ["a.json:2:3", "not valid JSON"]),
    "two roots": ('{"u": {' + ONE + "}} {}", ["not valid JSON (Extra data)"]),
    "empty file": ("", ["a.json:1:1", "not valid JSON"]),
    "broken bytes": (b'{"u":\n {"ref": "\xff"}}', ["line 2", "0xff is not UTF-8"]),
    "broken gzip": (gzip.compress(b"{}")[:-3], ["gzip"]),
    "torn gzip": (gzip.compress(b"{}")[:12] + b"x" * 8, ["gzip"]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_are_named_with_place_and_reason(name: str, tmp_path: Path) -> None:
    content, expected = MALFORMED[name]
    path = written(tmp_path / "a.json", content)
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    for part in [str(path), *expected]:
        assert part in message


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(InputError, match="cannot be read") as caught:
            read(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_cut_at_any_byte_is_refused(packed: bool, tmp_path: Path) -> None:
    data = as_json(EXPECTED[1:]).encode()
    if packed:
        data = gzip.compress(data)
    for length in range(len(data)):
        with pytest.raises(InputError):
            read(written(tmp_path / "cut.json", data[:length]))


def test_a_changed_byte_never_gives_a_number_that_is_not_in_the_file(tmp_path: Path) -> None:
    generator = random.Random(7)
    data = SMALL.read_bytes()
    for _ in range(400):
        changed = bytearray(data)
        changed[generator.randrange(len(data))] = generator.randrange(256)
        try:
            lists = read(written(tmp_path / "changed.json", bytes(changed)))
        except InputError:
            continue
        root = json.loads(bytes(changed))
        assert sum(len(one.hypotheses) for one in lists) == sum(
            key.startswith("hyp") for entry in root.values() for key in entry
        )
        for one in lists:
            entry = root[one.utterance]
            assert one.reference == entry.get("ref")
            for hypothesis in one.hypotheses:
                assert {"score": hypothesis.score, "text": hypothesis.text} in entry.values()
