"""The one exception that a user's mistake raises: a place, a reason and a remedy in one line."""

from __future__ import annotations

import difflib
import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

#: The exit code for a user's mistake, of stages and of the ``quartet`` command alike.
USER_ERROR = 2

#: Characters of the line that a user reads; of a longer one the middle is left out.
LONGEST_LINE = 500

#: Errors of the system that are nobody's bug, with what to do about them.
_SYSTEM: dict[int, str] = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EROFS: "write somewhere else, or make it writable",
    errno.EACCES: "check the rights of the file and its folder",
    errno.EFBIG: "raise the limit of the size of files (ulimit -f)",
    errno.EIO: "check the disk and the space on it",
}
#: What SQLite says of the same.
_SQLITE = {
    "database or disk is full": errno.ENOSPC,
    "attempt to write a readonly database": errno.EACCES,
    "disk I/O error": errno.EIO,
}


def system_error(error: Exception, place: object = None) -> InputError | None:
    """A full disk, a read-only folder or missing rights as a user's error; None for any other error.

    Libraries that are not written in Python raise errors of their own, which have the system's words in them.

    Args:
        place: what was to be written; None: what the error names.
    """
    said = str(error)
    if isinstance(error, OSError):
        code = error.errno
        place = place or error.filename
    else:
        words = {os.strerror(code): code for code in _SYSTEM} | _SQLITE
        code = next((words[each] for each in words if each in said), None)
    if code is None or code not in _SYSTEM:
        return None
    return InputError(place or "the output folder", os.strerror(code), _SYSTEM[code])


def first_mistake(error: ValidationError) -> tuple[str, str]:
    """The first mistake that pydantic found: its key, as ``model.dim``, and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    return ".".join(map(str, first["loc"])), str(first["msg"])


class InputError(ValueError):
    """Something outside the program is wrong: a file, a setting or an argument.

    Args:
        place: the file, key, line or utterance that is at fault, e.g. ``"params.yaml: models.tta.layers"``.
        reason: what is wrong with it.
        remedy: what to do about it (may be empty where the reason says it all).

    The entry points (stages and the ``quartet`` command) print ``str(error)`` and exit with code 2.
    """

    def __init__(self, place: object, reason: str, remedy: str = "") -> None:
        self.place = str(place)
        self.reason = reason
        self.remedy = remedy
        text = f"{self.place}: {reason}" + (f"; {remedy}" if remedy else "")
        super().__init__(_shown(" ".join(text.split())))


def nearest(word: str, known: Iterable[str], what: str) -> str:
    """A remedy: the known word most like `word`, else all of them.

    >>> nearest("layerz", ["layers", "dim"], "key")
    "the nearest known key is 'layers'"
    """
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"the nearest known {what} is {close[0]!r}"
    several = {"corpus": "corpora"}.get(what, f"{what}s")
    return f"the known {several} are {', '.join(known)}" if known else f"there is no {what} yet"


def _shown(text: str) -> str:
    """A line as a terminal may get it: what a malformed file holds can neither steer the terminal nor flood it."""
    if len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE * 2 // 3]} ... {text[-LONGEST_LINE // 3 :]}"
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn a user's error into its line (QUARTET_DEBUG=1 shows where it came from)."""
    try:
        yield
    except (InputError, OSError) as error:
        known = error if isinstance(error, InputError) else system_error(error)
        if known is None or os.environ.get("QUARTET_DEBUG", "") not in ("", "0"):
            raise
        print(f"error: {known}", file=sys.stderr)
        sys.exit(USER_ERROR)
