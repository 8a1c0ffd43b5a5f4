"""Plain text as documents: a folder of .txt files, or one .txt file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from quartet.errors import InputError
from quartet.text.documents import Document, Paragraph

DOCUMENT_GAP = 2
"""Blank lines in a row that separate two documents of a single file (one separates paragraphs)."""

_BLANKS = re.compile(r"\s+")


def read_text(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a folder or of a file; blank lines separate paragraphs, other line ends are blanks.

    A folder: every .txt file below it is one document, in the order of the paths; its id is the path below
    the folder without ``.txt``, its title the file's name. One file: two or more blank lines separate its
    documents, named ``name-1``, ``name-2``, ... No line is taken for a heading. One document is in memory at a
    time.

    Raises:
        InputError: there is no text, or a file is not UTF-8 (it says which and at which line).
    """
    path = Path(path)
    if path.is_dir():
        documents = _read_folder(path)
    elif path.is_file():
        documents = _read_file(path)
    else:
        raise InputError(path, "no such file or folder")
    empty = True
    for document in documents:
        empty = False
        yield document
    if empty:
        raise InputError(path, "holds no text", "give a .txt file, or a folder with .txt files")


def _read_folder(folder: Path) -> Iterator[Document]:
    found = (file for file in folder.rglob("*.txt") if file.is_file())
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in found}
    for name, file in sorted(files.items()):
        paragraphs = tuple(paragraph for paragraph, _ in _paragraphs(file))
        if paragraphs:
            yield Document(name, file.stem, paragraphs)


def _read_file(file: Path) -> Iterator[Document]:
    number = 1
    waiting: list[Paragraph] = []
    for paragraph, gap in _paragraphs(file):
        if waiting and gap >= DOCUMENT_GAP:
            yield Document(f"{file.stem}-{number}", f"{file.stem} {number}", tuple(waiting))
            number, waiting = number + 1, []
        waiting.append(paragraph)
    if waiting:
        yield Document(f"{file.stem}-{number}", f"{file.stem} {number}", tuple(waiting))


def _paragraphs(file: Path) -> Iterator[tuple[Paragraph, int]]:
    """Each paragraph with the number of blank lines before it."""
    lines: list[str] = []
    gap = blanks = 0
    for line in lines_of(file):
        if line.strip():
            gap = gap if lines else blanks
            lines.append(line)
            blanks = 0
            continue
        blanks += 1
        if lines:
            yield Paragraph(_BLANKS.sub(" ", " ".join(lines)).strip()), gap
            lines = []
    if lines:
        yield Paragraph(_BLANKS.sub(" ", " ".join(lines)).strip()), gap


def lines_of(file: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, a byte order mark left out.

    Raises:
        InputError: it cannot be read, or is not UTF-8 (it says at which line).
    """
    number = 0
    try:
        with open(file, encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):  # noqa: B007 - the error names it
                yield line
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}:{number + 1}", f"not UTF-8 ({error.reason})", "convert it to UTF-8"
        ) from error
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from error
