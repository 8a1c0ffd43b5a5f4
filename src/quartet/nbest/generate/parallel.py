"""Parallel text: two files of plain text, one sentence a line, line n of one the translation of line n of the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.nbest.formats.text_file import read_text


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations: `source[n]` and `target[n]` belong together.

    Runs of white space are one space.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.source)


def read_parallel(source: str | Path, target: str | Path) -> ParallelText:
    """Read two files, plain or gzipped.

    Raises:
        InputError: a file cannot be read, holds broken bytes, a NUL or an empty line, or they differ in their number
            of lines.
    """
    sides = read_lines(source), read_lines(target)
    counts = [len(side) for side in sides]
    if counts[0] != counts[1]:
        raise InputError(
            f"{source} and {target}",
            f"{counts[0]:,} and {counts[1]:,} lines: line n of one must translate line n of the other",
        )
    return ParallelText(*sides)


def read_lines(path: str | Path) -> tuple[str, ...]:
    """The lines of a text file, plain or gzipped, split at line feeds alone: other breaks are white space.

    Raises:
        InputError: as for :func:`read_parallel`; it names the file and the line.
    """
    text = read_text(path)
    if not text:
        raise InputError(path, "holds no line")
    rows = text.removesuffix("\n").split("\n")
    lines = tuple(" ".join(row.split()) for row in rows)
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise InputError(f"{path}:{number}", "a NUL character", "this is no plain text")
        if not line:
            raise InputError(f"{path}:{number}", "an empty line", "take the line out of both files")
    return lines
