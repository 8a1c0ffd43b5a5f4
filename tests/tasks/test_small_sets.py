"""The small sets: read exactly, and what is malformed is named with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.tasks.classification.data import LabelledText, read_labelled
from quartet.tasks.sts.data import read_lee
from quartet.tasks.wordsim.data import read_word_pairs

FIXTURES = Path(__file__).parent.parent / "fixtures" / "evaluation"


def test_lee_pairs_every_two_documents() -> None:
    lee = read_lee(FIXTURES / "documents.cor", FIXTURES / "similarities.txt")
    assert len(lee.texts) == 4
    assert lee.texts[2] == "bread costs 3£ more at the new bakery"
    pairs = list(zip(lee.first.tolist(), lee.second.tolist(), lee.gold.tolist(), strict=True))
    assert pairs == [(0, 1, 0.9), (0, 2, 0.2), (0, 3, 0.25), (1, 2, 0.1), (1, 3, 0.3), (2, 3, 0.75)]
    assert lee.shared


def test_word_pairs() -> None:
    words = read_word_pairs(FIXTURES / "words.tsv")
    assert words.first == ("boat", "boat", "bread", "ship", "loaf")
    assert words.second == ("ship", "bread", "loaf", "harbour", "tide")
    assert words.gold.tolist() == [9.0, 1.5, 8.25, 6.0, 0.5]


def test_labelled_sentences() -> None:
    examples = read_labelled(FIXTURES / "labelled.cor")
    assert [example.label for example in examples] == ["neg", "pos", "neg", "pos"]
    assert examples[0].text == "a dull evening — and a long one ."
    assert examples[3] == LabelledText("a café scene to remember .", "pos")


def lee_with(texts: bytes | None = None, similarities: bytes | None = None) -> Callable[[Path], object]:
    """A reader of the fixture with one file replaced by the path's content."""

    def read(path: Path) -> object:
        if texts is not None:
            path.write_bytes(texts)
            return read_lee(path, FIXTURES / "similarities.txt")
        assert similarities is not None
        path.write_bytes(similarities)
        return read_lee(FIXTURES / "documents.cor", path)

    return read


def other(reader: Callable[[Path], object], content: bytes) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        path.write_bytes(content)
        return reader(path)

    return read


ROWS = (FIXTURES / "similarities.txt").read_bytes()
MALFORMED: dict[str, tuple[Callable[[Path], object], str]] = {
    "documents missing": (lee_with(texts=b"a\nb\nc"), "similarities.txt:1: 4 numbers, but"),
    "document empty": (lee_with(texts=b"a\n\nc\nd"), "set.txt:2: an empty document"),
    "no documents": (lee_with(texts=b""), "set.txt: holds 0 documents"),
    "document bytes": (lee_with(texts=b"a\nb\x81\nc\nd"), "set.txt:2: byte 0x81 is not cp1252"),
    "row missing": (lee_with(similarities=ROWS[: ROWS.rindex(b"0\t0\t0")]), "set.txt: 3 rows, but"),
    "row cut": (lee_with(similarities=ROWS[:-3]), "set.txt:4: 3 numbers, but"),
    "no number": (lee_with(similarities=ROWS.replace(b"0.1", b"low")), 'set.txt:2: "low" is not a number'),
    "not finite": (lee_with(similarities=ROWS.replace(b"0.1", b"nan")), "set.txt:2: nan is not a finite"),
    "pair cut": (other(read_word_pairs, b"# note\na\tb\t1\nc\td"), "set.txt:3: two words and a score"),
    "pair without word": (other(read_word_pairs, b"a\t \t1\n"), "set.txt:1: two words and a score"),
    "score": (other(read_word_pairs, b"a\tb\tx\n"), 'set.txt:1: "x" is not a number'),
    "line of names": (
        other(read_word_pairs, b"Word 1\tWord 2\tHuman (mean)\na\tb\t1\n"),
        "a line of names begins with #",
    ),
    "other columns": (other(read_word_pairs, b"old\tnew\tA\t1.58\n"), "other columns are cut off"),
    "no pairs": (other(read_word_pairs, b"# note\n\n"), "set.txt: holds no pair"),
    "pair bytes": (other(read_word_pairs, b"a\tb\t1\n\xff\tb\t1\n"), "set.txt:2: byte 0xff is not utf-8"),
    "no label": (other(read_labelled, b"__label__a x\ny z\n"), 'set.txt:2: a line "__label__<label> <text>"'),
    "empty label": (other(read_labelled, b"__label__ x\n"), 'set.txt:1: a line "__label__<label> <text>"'),
    "no text": (other(read_labelled, b"__label__a x\n__label__b \n"), "set.txt:2: the label has no text"),
    "one label": (other(read_labelled, b"__label__a x\n__label__a y\n"), "set.txt: fewer than two"),
    "empty file": (other(read_labelled, b""), "set.txt: fewer than two"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_are_named(name: str, tmp_path: Path) -> None:
    read, expected = MALFORMED[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path / "set.txt")
    assert expected in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "absent.txt"
    for read in (lambda: read_lee(path, path), lambda: read_word_pairs(path), lambda: read_labelled(path)):
        with pytest.raises(InputError, match="cannot be read") as caught:
            read()
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_labelled_texts_are_read_in_either_encoding_and_with_tabs(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes("__label__pos\tEin sch\u00f6ner Film\n__label__neg \u00dcbel\n".encode(encoding))
    assert [(one.label, one.text) for one in read_labelled(path)] == [
        ("pos", "Ein sch\u00f6ner Film"),
        ("neg", "\u00dcbel"),
    ]
    path.write_text("__label__pos a\n__label__neg __label__pos b\n")
    with pytest.raises(InputError, match=r"texts\.txt:2: .*two labels"):
        read_labelled(path)
