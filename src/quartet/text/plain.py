"""Plain text as documents: a folder of .txt files, one .txt file, or a file of sentences, one a line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from quartet.errors import InputError
from quartet.files import files_below
from quartet.text.documents import Document, Draft, Paragraph, documents_of

ENDINGS = (".txt",)
"""Of the files of a folder."""

DOCUMENT_GAP = 2
"""Blank lines in a row that separate two documents of a single file (one separates paragraphs)."""

DOCUMENT_LINES = 1000
"""Sentences of a document where nothing says where one ends."""

LONGEST_LINE = 1 << 27
"""Characters of a line: a small compressed file may hold one that fills the memory."""


def read_text(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a folder or of a file; blank lines separate paragraphs, other line ends are blanks.

    A folder: every .txt file below it is one document, in the order of the paths, but hidden ones (a name on the way
    begins with a dot); its id is the path below the folder without ``.txt``, its title the file's name. One file: two
    or more blank lines separate its documents, named ``name-1``, ``name-2``, ... No line is taken for a heading. One
    document is in memory at a time.

    Raises:
        InputError: there is no text, a file is not UTF-8 (it says which and at which line), or a folder has a .TXT or
            .txt.gz, which would be left out.
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
    """The part of a file that is one document, its blank lines between paragraphs kept.

    Attributes:
        by_line: each line is a sentence; else a line's end is a blank.
    """

    id: str
    title: str
    text: str
    by_line: bool = False

    @property
    def size(self) -> int:
        """Characters of all lines."""
        return len(self.text)

    def has_text(self) -> bool:
        """True: there is no part without text."""
        return True

    def make(self) -> Document:
        """Put the lines together."""
        return Document(self.id, self.title, tuple(_paragraphs(self.text.split("\n"), self.by_line)))


def draft_lines(path: str | Path) -> Iterator[TextPart]:
    """The documents of a file of sentences, one a line, in an order that no paragraph or document is known of.

    Each line that is not blank is a paragraph of one sentence, and DOCUMENT_LINES of them are a document, ``name-1``,
    ``name-2``, ...

    Raises:
        InputError: it is no file, holds no text, or is not UTF-8 (it says at which line).
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(path, "no such file", "give a file with one sentence a line")
    empty = True
    for part in parts_of_lines(lines_of(path), name_of(path)):
        empty = False
        yield part
    if empty:
        raise InputError(path, "holds no text")


def draft_sentences(path: str | Path) -> Iterator[TextPart]:
    """The documents of a file of sentences, one a line: a blank line ends a paragraph, two or more a document.

    Raises:
        InputError: as `draft_lines`.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(path, "no such file", "give a file with one sentence a line")
    empty = True
    for part in _parts_of(path):
        empty = False
        yield replace(part, by_line=True)
    if empty:
        raise InputError(path, "holds no text")


def parts_of_lines(lines: Iterable[str], name: str) -> Iterator[TextPart]:
    """Every DOCUMENT_LINES lines as a document, each a paragraph of one sentence; blank ones do not count."""
    filled = (line.strip() for line in lines if line.strip())
    number = 0
    while some := list(islice(filled, DOCUMENT_LINES)):
        number += 1
        yield TextPart(f"{name}-{number}", f"{name} {number}", "\n\n".join(some), by_line=True)


def _files_of(folder: Path) -> Iterator[TextFile]:
    files = []
    for file in files_below(folder):
        if not file.name.lower().removesuffix(".gz").endswith(ENDINGS):
            continue
        if any(part.startswith(".") for part in file.relative_to(folder).parts):
            continue
        if file.suffix not in ENDINGS:
            raise InputError(
                file,
                f"of a folder only files that end in {' or '.join(ENDINGS)} are read",
                "rename or unpack it, or move it away",
            )
        files.append((file.relative_to(folder).with_suffix("").as_posix(), file))
    for name, file in sorted(files):
        yield TextFile(name, file, file.stat().st_size)


def _parts_of(file: Path) -> Iterator[TextPart]:
    number, name = 1, name_of(file)
    lines: list[str] = []
    blanks = 0  # lines in a row
    for line in lines_of(file):
        if not line.strip():
            blanks += 1
            continue
        if lines and blanks >= DOCUMENT_GAP:
            yield TextPart(f"{name}-{number}", f"{name} {number}", "".join(lines))
            number, lines = number + 1, []
        if lines and blanks:
            lines.append("\n")
        lines.append(line)
        blanks = 0
    if lines:
        yield TextPart(f"{name}-{number}", f"{name} {number}", "".join(lines))


def _paragraphs(lines: Iterable[str], by_line: bool = False) -> Iterator[Paragraph]:
    """What stands between blank lines, its white space collapsed."""
    found: list[str] = []
    for line in chain(lines, ("",)):
        if words := line.split():
            found.append(" ".join(words))
        elif found:
            yield Paragraph(" ".join(found), sentences=tuple(found) if by_line else ())
            found = []


def lines_of(file: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, a byte order mark left out; a gzip file's are those of what is compressed.

    Raises:
        InputError: it cannot be read, or is not UTF-8 or holds a NUL (it says at which line).
    """
    number = 0
    try:
        with _opened(file) as stream:
            lines = iter(partial(stream.readline, LONGEST_LINE), "")
            for number, line in enumerate(lines, start=1):
                if len(line) == LONGEST_LINE:
                    raise InputError(f"{file}:{number}", f"a line of {LONGEST_LINE:,} characters or more")
                if "\0" in line:  # UTF-16 without its mark has one beside every letter
                    raise InputError(
                        f"{file}:{number}", "a NUL character: this is no UTF-8", "convert it to UTF-8"
                    )
                yield line
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}:{number + 1}", f"not UTF-8 ({error.reason})", "convert it to UTF-8"
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            file, f"damaged or cut short after line {number:,} ({error})", "fetch the file again"
        ) from error
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from error


def _opened(file: Path) -> TextIO:
    """Open for reading; gzip is recognised by its first bytes, not by the file's name."""
    with open(file, "rb") as raw:
        compressed = raw.read(2) == b"\x1f\x8b"
    if compressed:
        return gzip.open(file, "rt", encoding="utf-8-sig")
    return open(file, encoding="utf-8-sig")


def name_of(file: Path) -> str:
    """A file's name without its ending, nor gzip's."""
    return Path(file.stem).stem if file.suffix == ".gz" else file.stem
