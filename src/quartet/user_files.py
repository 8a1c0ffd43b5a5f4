"""Files that users name, read and written in the way of what they are.

A regular file is whole or absent, behind a link the file that it leads to. A named pipe, a device such as /dev/null and
an open file of this process (/dev/stdin, /dev/stdout, /dev/fd/3) are read and written through. Commands take ``-`` for
standard input and standard output.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from quartet.errors import InputError, system_error
from quartet.files import atomic_path

STDIN, STDOUT = Path("/dev/stdin"), Path("/dev/stdout")
#: Paths of open files, by which they are known on every system.
_STANDARD: Final = {STDIN.as_posix(): 0, STDOUT.as_posix(): 1, "/dev/stderr": 2}
_OPEN = re.compile(rf"(?:/dev/fd|/proc/(?:self|thread-self|{os.getpid()})/fd)/([0-9]+)")
#: Links that may follow each other.
_LINKS = 40
GIVE_ONE = "give it a file or a pipe, or name a file"


def dash_is_stdin(path: Path | None) -> Path | None:
    """For options that name a file to read."""
    return STDIN if path is not None and str(path) == "-" else path


def dash_is_stdout(path: Path | None) -> Path | None:
    """For options that name a file to write."""
    return STDOUT if path is not None and str(path) == "-" else path


def descriptor(path: str | Path) -> int | None:
    """The number of the open file of this process that a path stands for, by links too; None for other paths."""
    path = Path(path)
    for _ in range(_LINKS):
        if path.as_posix() in _STANDARD:
            return _STANDARD[path.as_posix()]
        path = Path(os.path.realpath(path.parent)) / path.name
        if found := _OPEN.fullmatch(path.as_posix()):
            return int(found[1])
        try:
            path = path.parent / path.readlink()
        except (OSError, ValueError):  # no link, no path
            break
    return None


def is_stream(path: str | Path) -> bool:
    """Whether a path stands for what can be read but once: an open file, a pipe, a device."""
    if descriptor(path) is not None:
        return True
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_whole(path: str | Path) -> bytes:
    """The bytes of a file, a pipe, or an open file of this process.

    Raises:
        InputError: standard input is closed.
        OSError: it cannot be read.
    """
    number = descriptor(path)
    if number is None:
        return Path(path).read_bytes()
    if number == 0:
        if sys.stdin is None:
            raise InputError("standard input", "is closed", GIVE_ONE)
        return sys.stdin.buffer.read()
    with os.fdopen(os.dup(number), "rb") as file:
        return file.read()


@contextmanager
def open_for_writing(path: str | Path) -> Iterator[IO[str]]:
    """A text file to write in UTF-8: whole or absent where it is a regular file, and else written through at the end.

    Raises:
        InputError: it is a folder or cannot be written.
    """
    path = Path(path)
    if is_stream(path):
        text = io.StringIO()
        yield text
        _write_through(path, text.getvalue().encode("utf-8"))
    elif path.is_dir():
        raise InputError(path, "is a folder", "name a file")
    else:
        target = os.path.realpath(path)
        with atomic_path(target) as place, open(place, "w", encoding="utf-8", newline="\n") as file:
            yield file


@contextmanager
def flushed_stdout() -> Iterator[None]:
    """Standard output is written to its end, or the process ends with what kept it from that.

    What a full disk did not take is dropped: Python would try it again as it leaves, and say so in lines of its own. A
    pipe whose reader has enough is no error: the exit code is 1, and nothing is said.

    Raises:
        OSError: it cannot be written, and nothing else went wrong before.
    """
    try:
        yield
    finally:
        before = sys.exc_info()[1]
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if before is None or (isinstance(before, SystemExit) and not before.code):
                if isinstance(error, BrokenPipeError):
                    raise SystemExit(1) from None
                error.filename = "standard output"
                raise


def _write_through(path: Path, data: bytes) -> None:
    number = descriptor(path)
    try:
        if number == 1:
            if sys.stdout is None:
                raise InputError("standard output", "is closed", GIVE_ONE)
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        else:
            with open(path, "wb") if number is None else os.fdopen(os.dup(number), "wb") as file:
                file.write(data)
    except BrokenPipeError:  # whoever read it has enough
        raise
    except OSError as error:
        known = system_error(error)
        remedy = known.remedy if known else "write somewhere else"
        raise InputError(path, f"cannot be written ({error.strerror})", remedy) from error
