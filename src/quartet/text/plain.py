"""Plain text as documents: a folder of .txt files, or one .txt file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.text.documents import Document, Draft, Paragraph, documents_of

DOCUMENT_GAP = 2
"""Blank lines in a row that separate two documents of a single file (one separates paragraphs)."""


def read_text(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a folder or of a file; blank lines separate paragraphs, other line ends are blanks.

    A folder: every .txt file below it is one document, in the order of the paths; its id is the path below
    the folder without ``.txt``, its title the file's name. One file: two or more blank lines separate its
    documents, named ``name-1``, ``name-2``, ... No line is taken for a heading. One document is in memory at a
    time.

    Raises:
        InputError: there is no text, or a file is not UTF-8 (it says which and at which line).
    """
    return documents_of(draft_text(path))


def draft_text(path: str | Path) -> Iterator[Draft]:
    """As `read_text`, but the paragraphs (and a folder's files) are read where a draft is finished."""
    path = Path(path)
    if path.is_dir():
        drafts: Iterator[TextFile | TextPart] = _files_of(path)
    elif path.is_file():
        drafts = _parts_of(path)
    else:
        raise InputError(path, "no such file or folder")
    empty = True
    for draft in drafts:
        empty = empty and not draft.has_text()
        yield draft
    if empty:
        raise InputError(path, "holds no text", "give a .txt file, or a folder with .txt files")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that is one document."""

    id: str
    path: Path
    size: int

    def has_text(self) -> bool:
        """Whether any line is not blank; reads no further than that line."""
        return any(line.strip() for line in lines_of(self.path))

    def make(self) -> Document | None:
        """Read the file."""
        paragraphs = tuple(_paragraphs(lines_of(self.path)))
        return Document(self.id, self.path.stem, paragraphs) if paragraphs else None


@dataclass(frozen=True, slots=True)
class TextPart:
    """The part of a file that is one document, its blank lines between paragraphs kept."""

    id: str
    title: str
    text: str

    @property
    def size(self) -> int:
        """Characters of all lines."""
        return len(self.text)

    def has_text(self) -> bool:
        """True: there is no part without text."""
        return True

    def make(self) -> Document:
        """Put the lines together."""
        return Document(self.id, self.title, tuple(_paragraphs(self.text.split("\n"))))


def _files_of(folder: Path) -> Iterator[TextFile]:
    found = (file for file in folder.rglob("*.txt") if file.is_file())
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in found}
    for name, file in sorted(files.items()):
        yield TextFile(name, file, file.stat().st_size)


def _parts_of(file: Path) -> Iterator[TextPart]:
    number = 1
    lines: list[str] = []
    blanks = 0  # lines in a row
    for line in lines_of(file):
        if not line.strip():
            blanks += 1
            continue
        if lines and blanks >= DOCUMENT_GAP:
            yield TextPart(f"{file.stem}-{number}", f"{file.stem} {number}", "".join(lines))
            number, lines = number + 1, []
        if lines and blanks:
            lines.append("\n")
        lines.append(line)
        blanks = 0
    if lines:
        yield TextPart(f"{file.stem}-{number}", f"{file.stem} {number}", "".join(lines))


def _paragraphs(lines: Iterable[str]) -> Iterator[Paragraph]:
    """What stands between blank lines, its white space collapsed."""
    words: list[str] = []
    for line in lines:
        if found := line.split():
            words += found
        elif words:
            yield Paragraph(" ".join(words))
            words = []
    if words:
        yield Paragraph(" ".join(words))


def lines_of(file: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, a byte order mark left out.

    Raises:
        InputError: it cannot be read, or is not UTF-8 or holds a NUL (it says at which line).
    """
    number = 0
    try:
        with open(file, encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if "\0" in line:  # UTF-16 without its mark has one beside every letter
                    raise InputError(
                        f"{file}:{number}", "a NUL character: this is no UTF-8", "convert it to UTF-8"
                    )
                yield line
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}:{number + 1}", f"not UTF-8 ({error.reason})", "convert it to UTF-8"
        ) from error
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from error
