"""Plain text: what a document and a paragraph are, and which mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text.plain import read_text

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
