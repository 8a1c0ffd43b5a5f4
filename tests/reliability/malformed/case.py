"""What a malformed input is, and how one is made."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quartet.errors import InputError

#: Opens the folder that a case's files were written into, as the program itself would.
Read = Callable[[Path], object]

#: The longest line that still tells a person something.
LONGEST_LINE = 600


@dataclass(frozen=True)
class Case:
    """An input that must be refused.

    Attributes:
        kind: what the input should have been, e.g. ``nbest/moses``: the generator's file and its part.
        name: what is wrong with it; no other case of the kind has this name.
        files: what is in the folder, by relative path.
        read: reads it as the program does.
        says: a regular expression that the line must match: the place, and what is wrong.
    """

    kind: str
    name: str
    files: Mapping[str, bytes]
    read: Read
    says: str

    @property
    def id(self) -> str:
        """A name that no other case has."""
        return f"{self.kind}: {self.name}"

    @property
    def digest(self) -> str:
        """The same for the same bytes given to the same reader."""
        parts = [
            self.kind,
            *(f"{path}\0{hashlib.sha256(data).hexdigest()}" for path, data in sorted(self.files.items())),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def write(self, folder: Path) -> None:
        """Put the files into `folder`."""
        for path, data in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)

    def refusal(self, folder: Path) -> InputError:
        """Write the files, read them, and return what they were refused with.

        Raises:
            AssertionError: they were not refused, or not in one clear line; any other exception that came out is
                passed on, for it is the traceback that a user would have seen.
        """
        self.write(folder)
        try:
            found = self.read(folder)
        except InputError as error:
            check_line(error, folder, self.says)
            return error
        raise AssertionError(f"{self.id} was read as {found!r:.200}")


def check_line(error: InputError, folder: Path, says: str) -> None:
    """Raise AssertionError unless an error is one readable line that names the place and says what is wrong."""
    line = str(error)
    shown = line.replace(f"{folder}/", "").replace(str(folder), "FOLDER")
    assert "\n" not in line, shown
    assert error.place, f"no place: {shown}"
    assert error.reason, f"no reason: {shown}"
    assert len(shown) <= LONGEST_LINE, f"{len(shown)} characters: {shown}"
    assert shown.isprintable(), f"signs that cannot be printed: {shown!r}"
    assert "Traceback" not in line, shown
    assert re.search(says, shown), f"{says!r} is not in: {shown}"


def as_json(value: Any) -> bytes:
    """A value as JSON; NaN and infinities are written as Python writes them, which JSON forbids."""
    return json.dumps(value).encode()


def as_jsonl(*rows: Any) -> bytes:
    """Values as JSON lines."""
    return b"".join(as_json(row) + b"\n" for row in rows)


def gzipped(data: bytes) -> bytes:
    """The bytes as a gzip file, the same each time."""
    return gzip.compress(data, mtime=0)


def without(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A mapping without one of its keys."""
    return {name: item for name, item in value.items() if name != key}


def parquet(**columns: list[Any]) -> bytes:
    """A Parquet file of some columns."""
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def zipped(**files: bytes) -> bytes:
    """An archive of files, whose dots are written as two underscores."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", ".")), data)
    return buffer.getvalue()


def damaged_text(name: str, valid: bytes) -> Iterator[tuple[str, str, bytes, str]]:
    """Yield (what is wrong, file name, bytes, what is said) of damages that no file of text survives.

    Args:
        name: of the file; its gzipped forms have ".gz" behind it.
    """
    first, _, rest = valid.partition(b"\n")
    cut = len(first) // 2
    yield "Latin-1", name, first[:cut] + b"caf\xe9" + first[cut:] + b"\n" + rest, "utf-8|UTF-8"
    yield "UTF-16", name, valid.decode().encode("utf-16"), "utf-8|UTF-8|NUL"
    packed = gzipped(valid)
    broken = packed[:12] + bytes(255 - byte for byte in packed[12:-8]) + packed[-8:]
    yield "gzip cut short", f"{name}.gz", packed[:-6], "gzip|whole|cut|end"
    yield "gzip with broken data", f"{name}.gz", broken, "gzip|broken|damaged|cannot be read"
