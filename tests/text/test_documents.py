"""Segmented documents survive a file, and a bad line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.files import write_jsonl
from quartet.text.documents import SegmentedDocument, SegmentedParagraph, SentencesOf, read_segmented

DOCUMENT = SegmentedDocument(
    "7",
    "Čaj",
    (
        SegmentedParagraph(("How to",), heading=True),
        SegmentedParagraph(("It is hot.", "Sip\u2028it slowly.")),
    ),
)


def test_a_document_survives_a_file(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    write_jsonl(path, [DOCUMENT.to_json(), DOCUMENT.to_json()])
    assert list(read_segmented(path)) == [DOCUMENT, DOCUMENT]
    assert DOCUMENT.words == 8


def test_the_sentences_of_a_file_can_be_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    write_jsonl(path, [DOCUMENT.to_json()])
    sentences = SentencesOf(path)
    assert list(sentences) == list(sentences) == ["How to", "It is hot.", "Sip\u2028it slowly."]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "1", "title": "t"}', "the key 'paragraphs' is missing"),
        ('{"id": 1, "title": "t", "paragraphs": []}', "1 is not a str"),
        (
            '{"id": "1", "title": "t", "paragraphs": [{"heading": false, "sentences": "ab"}]}',
            "'ab' is not a list",
        ),
        ('{"id": "1", "title": "t", "paragraphs": [{"heading": 0, "sentences": []}]}', "0 is not a bool"),
        ('{"id": "1", "title": "t", "paragraphs": 3}', "not iterable"),
        ('{"id": "1", "title": ', "not a line of JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "train.jsonl"
    write_jsonl(path, [DOCUMENT.to_json()])
    with open(path, "a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=reason) as error:
        list(read_segmented(path))
    assert f"{path}:2: " in str(error.value)
