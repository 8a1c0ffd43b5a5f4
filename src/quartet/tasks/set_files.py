"""What a format of evaluation sets is, and their files as rows: lines, tables, JSON and Parquet, plain or gzipped.

Whatever is malformed is an `InputError` that names the file and the line.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from quartet.errors import InputError

Example = TypeVar("Example")
#: A row by its columns' names.
FileRow = Mapping[str, Any]

#: Bytes that a file may have when it is unpacked, and that a line of it or a whole JSON document may have.
LARGEST, LONGEST = 4 << 30, 256 << 20
#: Rows of a Parquet file that are unpacked at once.
ROWS = 1024
#: Digits of a label or an index; Python refuses to read thousands.
DIGITS = 18
#: For whoever has one value in the place of lines.
LINES = "write one object a line: jq -c '.[]' makes lines of a list"
#: How JSON may write a NUL or half a surrogate pair, which no text holds.
_NO_TEXT = re.compile(r"\\u(0000|[dD][89a-fA-F])")


@dataclass(frozen=True)
class SetFormat(Generic[Example]):
    """How one published set is written.

    Attributes:
        read: the examples of a file (or a folder, where the set is published as one) in their order; the suffix tells
            the well-known text form from the hub's ``.parquet``. It raises InputError with the file and the line.
        splits: the roles that ``files:`` may have, e.g. ("train", "dev", "test"); () where each role is a sub-task.
        obtain: where the set is to be had, in one line, for the report of somebody who does not have it.
        passed_over: how many examples of a file `read` leaves out; None: it never does.
    """

    read: Callable[[Path], Iterator[Example]]
    splits: tuple[str, ...]
    obtain: str
    passed_over: Callable[[Path], int] | None = None


@dataclass(frozen=True)
class SetKind:
    """A kind of set: either published ones, each file of which is read by itself, or files that are read together.

    Attributes:
        name: as params.yaml says it.
        formats: how the published sets of this kind are written; none: its files are read together.
        roles: of the files, in the order in which `read` takes them.
    """

    name: str
    formats: Mapping[str, SetFormat[Any]] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    read: Callable[..., Any] | None = None


def text_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """Yield (place, line without its end) of a text file, plain or ``.gz``; a byte-order mark is no part of it.

    Raises:
        InputError: the file cannot be read, is no gzip, or a line is not in the encoding or holds a NUL.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as file:
            yield from decoded_lines(file, path, encoding)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(path, f"not a whole gzip file ({error})") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})") from error


def western_lines(path: Path) -> list[tuple[str, str]]:
    """As `text_lines`: in UTF-8 where the whole file is that, else in Windows-1252, as older sets are published.

    A text of letters beyond ASCII in Windows-1252 is hardly ever valid UTF-8, so that the bytes decide.
    """
    try:
        return list(text_lines(path))
    except InputError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
        return list(text_lines(path, "cp1252"))


def decoded_lines(
    file: IO[bytes] | gzip.GzipFile, name: str | Path, encoding: str = "utf-8"
) -> Iterator[tuple[str, str]]:
    """Yield (place, line without its end) of a file called `name`.

    Raises:
        InputError: a line is not in the encoding, holds a NUL or is too long, or the file is too large.
    """
    total = number = 0
    while raw := file.readline(LONGEST + 1):
        number += 1
        total += len(raw)
        if total > LARGEST:
            raise InputError(name, f"unpacks to more than {LARGEST >> 30} GiB")
        if len(raw) > LONGEST:
            raise InputError(
                f"{name}:{number}", f"a line of more than {LONGEST >> 20} MiB", "this is no such set"
            )
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        place = f"{name}:{number}"
        if b"\0" in raw:
            raise InputError(place, "a NUL byte", "the file is damaged, or is no text")
        try:
            yield place, raw.decode(encoding).rstrip("\r\n")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            raise InputError(place, f"byte {byte:#04x} is not {encoding}") from error


def cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, cells) of a table with tabs, without quoting; blank lines are skipped."""
    for place, line in text_lines(path):
        if line.strip():
            yield place, line.split("\t")


def csv_cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, cells) of a table with commas and double quotes; a row is one line, blank ones are skipped.

    Raises:
        InputError: a line has a quote that is not closed on it.
    """
    for place, line in text_lines(path):
        if not line.strip():
            continue
        try:
            (row,) = csv.reader([line], strict=True)
        except csv.Error as error:
            raise InputError(place, f"not a row of comma-separated values ({error})") from error
        yield place, row


def json_rows(path: Path, wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of a file of JSON lines, whose objects have at least the columns `wanted`."""
    return json_objects(text_lines(path), wanted)


def json_objects(
    lines: Iterable[tuple[str, str]], wanted: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of lines of JSON with their places; blank lines are skipped."""
    for place, line in lines:
        if not line.strip():
            continue
        try:
            row = _json(line)
        except (ValueError, RecursionError) as error:
            raise InputError(place, f"not a line of JSON ({_reason(error)})", LINES) from error
        if not isinstance(row, dict):
            raise InputError(place, f"a JSON object was expected, not {type(row).__name__}", LINES)
        check_columns(row, wanted, place)
        yield place, row


def json_document(path: Path) -> Any:
    """The one JSON value that a file holds, plain or ``.gz``.

    Raises:
        InputError: as :func:`text_lines`, or the file is no JSON.
    """
    lines: list[str] = []
    size = 0
    for _, line in text_lines(path):
        size += len(line)
        lines.append(line)
        if size > LONGEST or len(lines) > LONGEST >> 6:
            raise InputError(path, f"more than {LONGEST >> 20} MiB of JSON", "this is no such set")
    try:
        return _json("\n".join(lines))
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"not a JSON document ({_reason(error)})") from error


def _json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: the text is no JSON, an object has a key twice, a number has thousands of digits, or a text holds a
            NUL or half a surrogate pair.
        RecursionError: it is nested too deeply.
    """
    value = json.loads(text, object_pairs_hook=_object)
    if _NO_TEXT.search(text) and not _writable(value):
        raise ValueError("a text holds a NUL or half a surrogate pair")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f"an object has the key {next(json.dumps(key) for key in keys if keys.count(key) > 1)} twice"
        )
    return found


def _writable(value: Any) -> bool:
    """Whether every text in a JSON value can be written into a file of text."""
    if isinstance(value, dict):
        return all(_writable(key) and _writable(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(_writable, value))
    return not isinstance(value, str) or not any(
        sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in value
    )


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error).partition("; use sys")[0]  # the advice is for programmers


def parquet_rows(path: Path, wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) of a Parquet file, the form in which the hub keeps its sets."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        names = file.schema_arrow.names
        check_columns(names, wanted, str(path))
        check_once(names, names, str(path))
        number = 0
        for batch in file.iter_batches(ROWS):
            for row in batch.to_pylist():
                number += 1
                yield f"{path}: row {number}", row
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"not a Parquet file that can be read ({error})") from error


def text_of(row: FileRow, column: str, place: str) -> str:
    """A cell that must be a text with more than blanks, without the blanks around it."""
    value = row.get(column)
    if not isinstance(value, str):
        raise InputError(place, f"{column} is {type(value).__name__}, a text was expected")
    if not value.strip():
        raise InputError(place, f"{column} is empty")
    return value.strip()


def number_of(value: object, place: str) -> float:
    """A finite number, also written as a text; Python's own ``1_000`` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(place, f"{value!r:.80} is not a number")
    try:
        number = float("_" if isinstance(value, str) and "_" in value else value)
    except ValueError:
        raise InputError(place, f'"{value!s:.80}" is not a number') from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(place, f"{number} is not a finite number")
    return number


def score_of(value: object, low: float, high: float, place: str) -> float:
    """People's score, a number within two others."""
    score = number_of(value, place)
    if not low <= score <= high:
        raise InputError(
            place,
            f"the score {score:g} is not within {low:g} and {high:g}",
            "scores of -1 mark a split without published scores" if score == -1 else "",
        )
    return score


def label_of(value: object, labels: Sequence[str], place: str) -> str:
    """A label by its name, or by its number in the order of `labels` (as the hub writes it)."""
    if isinstance(value, str) and value in labels:
        return value
    index = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS:
        index = int(value)
    if index is None or not 0 <= index < len(labels):
        raise InputError(
            place, f"{value!r:.80} is no label", f"labels are {', '.join(labels)} or their numbers from 0"
        )
    return labels[index]


def check_columns(found: Collection[str], wanted: Sequence[str], place: str) -> None:
    """Raise InputError where one of the columns that are read is missing."""
    missing = [name for name in wanted if name not in found]
    if missing:
        there = ", ".join(found) or "none"
        raise InputError(place, f"no column {', '.join(missing)}; there are {there:.200}")


def check_once(found: Sequence[str], wanted: Sequence[str], place: str) -> None:
    """Raise InputError where one of the columns that are read stands there twice: which is meant?"""
    for name in wanted:
        if found.count(name) > 1:
            raise InputError(place, f"names the column {name} twice", "take one out")
