"""Plain text: what a document and a paragraph are, and which mistakes are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from nltk.tokenize.punkt import PunktParameters

from quartet.errors import InputError
from quartet.text.documents import documents_of
from quartet.text.plain import DOCUMENT_LINES, draft_lines, draft_sentences, read_text
from quartet.text.punkt import Punkt
from quartet.text.segmentation import source_sha256
from quartet.text.segmenter import Segmenter

PROSE = Path(__file__).parents[1] / "fixtures" / "text" / "prose"


def test_a_folder_is_one_document_a_file_in_the_order_of_the_paths() -> None:
    documents = list(read_text(PROSE))
    assert [(document.id, document.title) for document in documents] == [
        ("boat", "boat"),
        ("more/letter", "letter"),
        ("snow", "snow"),
    ]
    assert [p.text for p in documents[0].paragraphs] == [
        "The boat left at dawn. Nobody waved, and nobody wept.",
        "By noon Mr. Hale was asleep. The sea was flat.",
    ]
    assert [p.text for p in documents[1].paragraphs] == [
        "A letter came.",
        'It was short: "Come home. Bring bread."',
    ]
    assert documents[2].paragraphs[0].text.startswith("Snow")  # no byte order mark


@pytest.mark.parametrize("name", ["B.TXT", "b.txt.gz", "c/b.Txt"])
def test_a_text_that_a_folder_would_leave_out_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("One.")
    (tmp_path / "notes.md").write_text("Not read.")
    assert [document.id for document in read_text(tmp_path)] == ["a"]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("Two.")
    with pytest.raises(InputError, match=r"only files that end in \.txt") as refused:
        list(read_text(tmp_path))
    assert refused.value.place == str(tmp_path / name)


def test_a_linked_folder_of_texts_is_read_and_a_circle_is_refused(tmp_path: Path) -> None:
    corpus, elsewhere = tmp_path / "corpus", tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    corpus.mkdir()
    (corpus / "a.txt").write_text("One.")
    (elsewhere / "deep" / "b.txt").write_text("Two.")
    (corpus / "link").symlink_to(elsewhere)
    assert [document.id for document in read_text(corpus)] == ["a", "link/deep/b"]
    before = source_sha256(corpus)
    (elsewhere / "deep" / "b.txt").write_text("Three.")
    assert source_sha256(corpus) != before
    (elsewhere / "deep" / "up").symlink_to(corpus)
    with pytest.raises(InputError, match="a link to a folder that it is in"):
        list(read_text(corpus))


def test_two_blank_lines_separate_the_documents_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "tales.txt"
    path.write_text("\n\nOne.\n\nStill one.\n \n\t\nTwo\ngoes on.\n\n\n\nThree.")
    documents = list(read_text(path))
    assert [(d.id, [p.text for p in d.paragraphs]) for d in documents] == [
        ("tales-1", ["One.", "Still one."]),
        ("tales-2", ["Two goes on."]),
        ("tales-3", ["Three."]),
    ]


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"Fine.\n\n" * 3000 + b"caf\xe9\n")
    with pytest.raises(InputError, match=r"latin\.txt:\d+: not UTF-8"):
        list(read_text(path))


@pytest.mark.parametrize("name", ["", "absent", "empty.txt"])
def test_where_there_is_no_text_that_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(InputError, match="no such file or folder" if name == "absent" else "holds no text"):
        list(read_text(tmp_path / name))


def test_a_line_of_a_file_of_sentences_is_a_paragraph_and_a_thousand_are_a_document(tmp_path: Path) -> None:
    path = tmp_path / "lm-norm.txt.gz"
    lines = [f"{'A ' * (number % 3 + 1)}LINE OF MR SMITH'S" for number in range(2 * DOCUMENT_LINES + 3)]
    path.write_bytes(gzip.compress("\n\n".join(lines).encode()))
    found = list(documents_of(draft_lines(path)))
    assert [(one.id, one.title) for one in found] == [(f"lm-norm-{n}", f"lm-norm {n}") for n in (1, 2, 3)]
    assert [len(one.paragraphs) for one in found] == [DOCUMENT_LINES, DOCUMENT_LINES, 3]
    assert [p.text for one in found for p in one.paragraphs] == lines
    segmenter = Segmenter(Punkt(PunktParameters()), "untrained")
    assert [p.sentences for p in segmenter.segment(found[2]).paragraphs] == [(line,) for line in lines[-3:]]


def test_a_compressed_text_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "tales.txt").write_text("One.\n\nStill one.\n\n\nTwo.\n", encoding="utf-8-sig")
    (tmp_path / "tales.txt.gz").write_bytes(gzip.compress((tmp_path / "tales.txt").read_bytes()))
    found = list(read_text(tmp_path / "tales.txt.gz"))
    assert found == list(read_text(tmp_path / "tales.txt"))
    assert found[0].paragraphs[0].text == "One.", "without the byte order mark"


def test_a_damaged_compressed_text_is_a_line(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"Line %d of many.\n" % number for number in range(5000)))
    for name, data in (("cut.gz", whole[:-2000]), ("changed.gz", whole[:3000] + b"????" + whole[3004:])):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=rf"{name}: damaged or cut short after line [\d,]+ \("):
            list(draft_lines(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "said"), [("absent", "no such file"), ("", "no such file"), ("empty.txt", "no text")]
)
def test_a_file_of_sentences_that_holds_none_is_named(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(InputError, match=said):
        list(draft_lines(tmp_path / name))


def test_a_line_without_end_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quartet.text.plain.LONGEST_LINE", 1000)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"short\n" + b"x" * 10_000))
    with pytest.raises(InputError, match=r"bomb\.gz:2: a line of 1,000 characters or more"):
        list(draft_lines(tmp_path / "bomb.gz"))


def test_a_line_is_a_sentence_and_a_blank_line_ends_a_paragraph(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Das ist z. B. der 1. Satz.\n\u732b\u3002\n\nNr. 2.\n\n\nNr. 3.\n")
    segmenter = Segmenter(Punkt(PunktParameters()), "none")
    found = [segmenter.segment(one) for one in documents_of(draft_sentences(path))]
    paragraphs = [[one.sentences for one in each.paragraphs] for each in found]
    assert paragraphs == [[("Das ist z. B. der 1. Satz.", "\u732b\u3002"), ("Nr. 2.",)], [("Nr. 3.",)]]
    lines = [segmenter.segment(one) for one in documents_of(draft_lines(path))]
    assert [len(one.sentences) for each in lines for one in each.paragraphs] == [1, 1, 1, 1]


def test_hidden_files_are_no_text(tmp_path: Path) -> None:
    for name in ("a.txt", ".ipynb_checkpoints/a.txt", "._a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("A tale.")
    assert [one.id for one in read_text(tmp_path)] == ["a"]
