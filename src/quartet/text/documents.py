"""The two shapes of a text: as it was read (paragraphs) and as it was segmented (sentences of paragraphs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from quartet.errors import InputError
from quartet.files import parse_jsonl, read_jsonl
from quartet.text.scripts import count_words

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph on one line (white space collapsed), or one heading.

    Attributes:
        sentences: where the text brings them; none: they are to be found.
    """

    text: str
    heading: bool = False
    sentences: tuple[str, ...] = ()


class Draft(Protocol):
    """What a reader yields: a document that another process may finish, so that reading does not hold up the rest.

    It is picklable, and `make` reads nothing that has to be read in order.
    """

    @property
    def size(self) -> int:
        """About how many characters it has."""
        ...

    def make(self) -> Document | None:
        """The document; None where nothing is left of it.

        Raises:
            InputError: it cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Document:
    """A text as paragraphs; `id` is unique within its source and decides the document's split. It is its own draft."""

    id: str
    title: str
    paragraphs: tuple[Paragraph, ...]

    @property
    def size(self) -> int:
        """Characters of all paragraphs."""
        return sum(len(paragraph.text) for paragraph in self.paragraphs)

    def make(self) -> Document:
        """The document itself."""
        return self


def documents_of(drafts: Iterable[Draft]) -> Iterator[Document]:
    """Finish drafts one after the other, and leave out those of which nothing is left."""
    return (document for draft in drafts if (document := draft.make()) is not None)


@dataclass(frozen=True, slots=True)
class SegmentedParagraph:
    """The sentences of a paragraph in their order; a heading is a paragraph of one sentence."""

    sentences: tuple[str, ...]
    heading: bool = False


@dataclass(frozen=True, slots=True)
class SegmentedDocument:
    """A document cut into sentences.

    >>> document = SegmentedDocument("7", "Tea", (SegmentedParagraph(("It is hot.", "Sip it.")),))
    >>> document.words
    5
    >>> SegmentedDocument.from_json(document.to_json()) == document
    True
    """

    id: str
    title: str
    paragraphs: tuple[SegmentedParagraph, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """Every sentence of every paragraph, headings included, in reading order."""
        return (sentence for paragraph in self.paragraphs for sentence in paragraph.sentences)

    @property
    def words(self) -> int:
        """See `quartet.text.scripts`."""
        return sum(count_words(sentence) for sentence in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """The object that is one line of ``<split>.jsonl``."""
        paragraphs = [{"heading": p.heading, "sentences": list(p.sentences)} for p in self.paragraphs]
        return {"id": self.id, "title": self.title, "paragraphs": paragraphs}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> SegmentedDocument:
        """The inverse of `to_json`.

        Raises:
            ValueError: a key is missing or a value has the wrong type.
        """
        try:
            return cls(
                _typed(row["id"], str),
                _typed(row["title"], str),
                tuple(
                    SegmentedParagraph(
                        tuple(_typed(sentence, str) for sentence in _typed(p["sentences"], list)),
                        _typed(p["heading"], bool),
                    )
                    for p in row["paragraphs"]
                ),
            )
        except KeyError as error:
            raise ValueError(f"the key {error} is missing") from error
        except TypeError as error:
            raise ValueError(str(error)) from error


def _typed(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is not a {kind.__name__}")
    return value


def read_segmented(path: str | Path) -> Iterator[SegmentedDocument]:
    """Stream the documents of a ``<split>.jsonl``.

    Raises:
        InputError: the file is absent, or a line is not a segmented document (named by its number).
    """
    return _of_rows(read_jsonl(path), path)


def parse_segmented(lines: Iterable[tuple[int, bytes]], path: str | Path) -> Iterator[SegmentedDocument]:
    """As `read_segmented`, of some `files.numbered_lines` of the file at `path`."""
    return _of_rows(parse_jsonl(lines, path), path)


def _of_rows(rows: Iterable[tuple[int, dict[str, Any]]], path: str | Path) -> Iterator[SegmentedDocument]:
    for number, row in rows:
        try:
            yield SegmentedDocument.from_json(row)
        except ValueError as error:
            raise InputError(f"{path}:{number}", f"not a segmented document ({error})") from error


class SentencesOf:
    """The sentences of a ``<split>.jsonl`` as an iterable that starts again each time it is iterated."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[str]:
        for document in read_segmented(self.path):
            yield from document.sentences
