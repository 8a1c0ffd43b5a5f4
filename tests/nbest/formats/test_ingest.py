"""What is refused ends the reading or is counted: nothing is dropped in silence; references from other files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import FORMATS, NBestFiles, read
from quartet.nbest.formats.text_file import lines, number_in
from tests.nbest.lists import nbest

GOOD = '{"utt": "%s", "ref": "own", "hypotheses": [{"text": "a", "score": -1}]}\n'
LISTS = "".join(
    [
        GOOD % "one",
        '{"utt": "two", "hypotheses": [{"text": "a", "score": NaN}]}\n',
        GOOD % "one",
        "not JSON\n",
        '{"utt": "three", "hypotheses": [{"text": "a"}]}\n',
        GOOD % "four",
    ]
)


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    path = tmp_path / "lists.jsonl"
    path.write_bytes(LISTS.encode() + b'{"utt": "\xff"}\n')
    return path


def test_what_goes_in_comes_out_or_is_refused_by_name(lists: Path) -> None:
    reading = read("jsonl", NBestFiles(lists), skip=True)
    assert [one.utterance for one in reading.lists] == ["one", "four"]
    assert reading.entries == 7 == len(reading.lists) + len(reading.refused)
    expected = [
        'lists.jsonl:2: utterance "two", hypothesis 1, score: the score is nan',
        'lists.jsonl:3: utterance "one": occurs twice, first on line 1',
        "lists.jsonl:4:1: not valid JSON",
        'lists.jsonl:5: utterance "three": has no scores and the lists before it have some',
        "lists.jsonl: line 7: byte 0xff is not UTF-8",
    ]
    for error, words in zip(reading.refused, expected, strict=True):
        assert words in str(error)


def test_without_skipping_the_first_malformed_entry_ends_it(lists: Path) -> None:
    with pytest.raises(InputError, match="the score is nan"):
        read("jsonl", NBestFiles(lists))


def test_a_file_of_refused_entries_alone_is_an_error_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("broken\nbroken\n")
    with pytest.raises(InputError, match=r"all of its 2 entries were refused, the first: .*a\.jsonl:1:1"):
        read("jsonl", NBestFiles(path), skip=True)
    path.write_text("\n")
    with pytest.raises(InputError, match="holds no N-best list"):
        read("jsonl", NBestFiles(path), skip=True)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("jsonl", {"scores": ((Path("costs"), 1.0),)}, "has its scores in the same file"),
        ("nemo", {}, "needs to be told the beam"),
        ("moses", {"beam": 5}, "tells its hypotheses itself"),
    ],
)
def test_settings_that_a_format_does_not_use_are_refused(
    name: str, settings: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read(name, NBestFiles(Path("lists"), **settings))


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    beam = 2 if FORMATS[name].beam else None
    with pytest.raises(InputError, match=r"absent\.txt: cannot be read"):
        read(name, NBestFiles(tmp_path / "absent.txt", beam=beam))


NAMED = {
    "refs.json": '{"four": "vier", "one": "", "two": "zwei", "five": null}',
    "refs.trn": "vier (four)\n(one)\nzwei (two)\n fünf  (five)\n",
    "refs.txt": "four vier\none\n\ntwo zwei\nfive fünf\n",
    "refs.text.gz": "four\tvier\none \ntwo zwei\nfive fünf\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_references_of_a_file_stand_in_the_place_of_the_lists_own(name: str, tmp_path: Path) -> None:
    lists, path = tmp_path / "lists.jsonl", tmp_path / name
    lists.write_text("".join(GOOD % utterance for utterance in ("one", "three", "four")))
    data = NAMED[name].encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    reading = read("jsonl", NBestFiles(lists, references=path), skip_missing=True)
    assert {one.utterance: one.reference for one in reading.lists} == {
        "one": "",
        "three": None,
        "four": "vier",
    }
    assert reading.references_unused == 2
    assert reading.missing == ()
    counted = read("jsonl", NBestFiles(lists, references=path))
    lost = {
        one.utterance: (one.reference, [each.text for each in one.hypotheses]) for one in counted.lists[3:]
    }
    texts = (
        {"two": "zwei"} if name == "refs.json" else {"two": "zwei", "five": "f\u00fcnf"}
    )  # null: none is known
    assert lost == {utterance: (text, [""]) for utterance, text in texts.items()}
    assert counted.missing == tuple(lost)
    assert counted.references_unused == 2 - len(lost)


@pytest.mark.parametrize("score", ["", ', "score": -1'])
def test_a_lost_list_has_a_score_where_the_others_have_one(tmp_path: Path, score: str) -> None:
    lists, path = tmp_path / "lists.jsonl", tmp_path / "refs.json"
    lists.write_text(f'{{"utt": "one", "hypotheses": [{{"text": "a"{score}}}]}}\n')
    path.write_text('{"one": "a", "two": "b"}')
    kept, lost = read("jsonl", NBestFiles(lists, references=path)).lists
    assert lost.utterance == "two" and lost.ranked_only == kept.ranked_only == (not score)


MALFORMED_REFERENCES = {
    "a.json": ('{"one": "a", "one": "b"}', 'a.json: utterance "one" occurs twice'),
    "b.json": ('{"one": 3}', 'utterance "one": a text was expected, not a number'),
    "c.json": ("[]", "an object of references was expected, not a list"),
    "d.json": ('{"one": "a"', "not valid JSON"),
    "a.trn": ("text (one\n", 'a.trn:1: "text (utterance)" was expected'),
    "b.trn": ("a (one)\nb (one)\n", 'b.trn:2: utterance "one" occurs twice'),
    "c.trn": ("{ a / b } c (one)\n", "c.trn:1: it leaves the choice between texts"),
    "a.txt": ("one a\none b\n", 'a.txt:2: utterance "one" occurs twice'),
    "b.txt": ("one a", "b.txt:1: the last line does not end"),
    "c.txt": (
        "other a\nmore b\n",
        'none of its utterances ("other", "more", ...) is one of the lists\', which are like',
    ),
    "d.txt": ("", "is empty"),
}


@pytest.mark.parametrize("name", MALFORMED_REFERENCES)
def test_malformed_references_are_named(name: str, tmp_path: Path) -> None:
    content, words = MALFORMED_REFERENCES[name]
    (tmp_path / "lists.jsonl").write_text(GOOD % "one")
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        read("jsonl", NBestFiles(tmp_path / "lists.jsonl", references=tmp_path / name))
    assert words in str(caught.value)


def test_lines_without_names_are_told_to_have_them(tmp_path: Path) -> None:
    lists, path = tmp_path / "lists.jsonl", tmp_path / "refs.txt"
    lists.write_text(GOOD % "one" + GOOD % "two")
    for content in ("the cat\nthe mat\n", "the cat\na mat\n"):
        path.write_text(content)
        with pytest.raises(InputError) as caught:
            read("jsonl", NBestFiles(lists, references=path))
        assert "utterance" in caught.value.remedy
    path.write_text("one the cat\ntwo the mat\n")
    found = read("jsonl", NBestFiles(lists, references=path)).lists
    assert [one.reference for one in found] == ["the cat", "the mat"]


def test_each_name_of_a_table_may_be_that_of_an_audio_file(tmp_path: Path) -> None:
    lists, path = tmp_path / "lists.jsonl", tmp_path / "refs.tsv"
    lists.write_text(GOOD % "a" + GOOD % "b" + '{"utt": "c", "hypotheses": []}\n' + GOOD % "d.wav")
    path.write_text("path\ttext\nwav/a.wav\tA\nb\tB\nc.flac\tC\nd.wav\tD\ne.wav\tE\n")
    found = read("jsonl", NBestFiles(lists, references=path), skip=True)
    assert {one.utterance: one.reference for one in found.lists} == {
        "a": "A",
        "b": "B",
        "d.wav": "D",
        "e.wav": "E",
    }
    assert found.missing == ("e.wav",), "c was refused and is not lost"
    path.write_text("path\ttext\na.wav\tA\na.mp3\tX\nb\tB\n")
    found = read("jsonl", NBestFiles(lists, references=path), skip=True)
    assert found.missing == ("a.wav", "a.mp3"), "nothing says which is that of a"


@pytest.mark.parametrize("name", ["refs.json", "refs.trn", "refs.txt", "numbered"])
def test_references_cut_at_any_byte_are_an_error_or_those_that_are_left(name: str, tmp_path: Path) -> None:
    if name == "numbered":
        lists, form = tmp_path / "lists.txt", "moses"
        lists.write_text("0 ||| a ||| ||| -1\n1 ||| a ||| ||| -1\n")
        content, whole = "réf one\n\n", {"0": "réf one", "1": ""}
    else:
        lists, form = tmp_path / "lists.jsonl", "jsonl"
        lists.write_text("".join(GOOD % utterance for utterance in ("one", "two", "four")))
        content, whole = NAMED[name], {"one": "", "two": "zwei", "four": "vier"}
    data = content.encode()
    path = tmp_path / name
    ends = 0
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        try:
            found = read(form, NBestFiles(lists, references=path), skip_missing=True).lists
        except InputError:
            continue
        ends += 1
        assert all(one.reference in (None, whole[one.utterance]) for one in found)
    assert ends == {"refs.json": 1, "refs.trn": 4, "refs.txt": 5, "numbered": 1}[name]


def test_malformed_references_are_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "lists.jsonl").write_text(GOOD % "one" + GOOD % "two")
    (tmp_path / "refs.trn").write_text("a (one)\nbroken\nagain (one)\n")
    reading = read("jsonl", NBestFiles(tmp_path / "lists.jsonl", references=tmp_path / "refs.trn"), skip=True)
    assert reading.lists == [nbest("one", "a", ("a", -1.0)), nbest("two", None, ("a", -1.0))]
    assert [str(error).partition("refs.trn:")[2][:2] for error in reading.references_refused] == ["2:", "3:"]


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-Infinity", "1_0", "\u0661", "0x1p3", "", "1 2", "1e999", "--1"]
)
def test_a_number_is_finite_and_plain(text: str) -> None:
    with pytest.raises(InputError, match=r"^here: "):
        number_in(text, "here")


def test_numbers_as_other_programs_write_them() -> None:
    texts = ("-14.6262", " 3 ", "+1e-05", "1.", ".5", "-1E3")
    assert [number_in(text, "here") for text in texts] == [-14.6262, 3.0, 1e-05, 1.0, 0.5, -1000.0]


def test_lines_end_with_line_breaks_alone(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfa\x0b\xe2\x80\xa8b\r\n\r\n\rc")
    assert list(lines(path, closed=False)) == [(1, "a\x0b\u2028b"), (2, ""), (3, "\rc")]
    (_, one), (_, two), (_, cut) = lines(path)
    assert (one, two) == ("a\x0b\u2028b", "")
    assert isinstance(cut, InputError)
    assert "does not end" in str(cut)
