"""Files that are either whole or absent: written beside their place and moved there when complete."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quartet.errors import InputError

#: How the names of unfinished files and folders begin; .dvcignore leaves them out.
TEMPORARY = ".unfinished-"


def _open_mode(path: Path) -> None:
    """Give a temporary file or folder the permissions that an ordinary one would have had."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; move it onto `path` on success, remove it on failure.

    Raises:
        InputError: the folder cannot be written (read-only or full).
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f"{TEMPORARY}{path.name}.", suffix=path.suffix, dir=path.parent
        )
        os.close(handle)
    except OSError as error:
        raise InputError(
            path, f"cannot be written ({error.strerror})", "check the folder's rights"
        ) from error
    temporary = Path(name)
    try:
        yield temporary
        _open_mode(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_dir(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; put it in the place of `path` on success, remove it on failure.

    Raises:
        InputError: the parent folder cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}{path.name}.", dir=path.parent))
    except OSError as error:
        raise InputError(
            path, f"cannot be written ({error.strerror})", "check the folder's rights"
        ) from error
    try:
        yield temporary
        _open_mode(temporary)
        if path.is_dir():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes in hexadecimal, read in blocks."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of a JSON-lines file; blank lines are skipped.

    Raises:
        InputError: the file is absent, is not UTF-8, or a line is not one JSON object.
    """
    return parse_jsonl(numbered_lines(path), path)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, bytes) of every line of a file.

    Raises:
        InputError: the file is absent.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(path, "no such file")
    with open(path, "rb") as file:
        yield from enumerate(file, start=1)


def parse_jsonl(lines: Iterable[tuple[int, bytes]], path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """As `read_jsonl`, of some `numbered_lines` of the file at `path`."""
    for number, raw in lines:
        if not raw.strip():
            continue
        try:
            row = json.loads(raw.decode("utf-8"))
        except ValueError as error:  # of the bytes, of the JSON, of a number of thousands of digits
            raise InputError(f"{path}:{number}", f"not a line of JSON ({error})") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}", f"a JSON object was expected, not {type(row).__name__}")
        yield number, row


def write_jsonl(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line with sorted keys, atomically.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """The value in a JSON file.

    Raises:
        InputError: the file is absent or is not valid JSON.
    """
    path = Path(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(path, "no such file") from error
    except ValueError as error:  # of the bytes, of the JSON, of a number of thousands of digits
        raise InputError(path, f"not valid JSON ({error})") from error


def write_json(path: str | Path, value: Any) -> None:
    """Write one JSON value, indented, with sorted keys, atomically; NaN is refused with ValueError."""
    with atomic_path(path) as temporary:
        text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")
