"""Files of text, plain or gzipped: broken bytes, cut lines and odd numbers are refused by name."""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from quartet.errors import InputError
from quartet.streams import is_stream, read_whole

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: What may stand around a field: of the other white space of Unicode, some is a broken byte.
BLANK = " \t"
#: What a file may unpack to: so many bytes, or so many times its own size; text shrinks to a twentieth, seldom more.
UNPACKED, RATIO = 1 << 26, 200
#: What other programs write for a number; Python alone would also take "1_000", other scripts' digits and "nan".
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: What was read of pipes and other open files, by path, while `streams_kept`.
_KEPT: ContextVar[dict[Path, bytes] | None] = ContextVar("_KEPT", default=None)


@contextmanager
def streams_kept() -> Iterator[None]:
    """Let pipes, standard input and other open files be read more than once within the block."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, unpacked where it is gzipped (told by its first bytes, not by its name).

    Raises:
        InputError: the file cannot be read, its compression is broken, or it unpacks to far more than text does.
    """
    path = Path(path)
    try:
        data = _read(path)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    if not data.startswith(GZIP_MAGIC):
        return data
    most = max(UNPACKED, RATIO * len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(most + 1)
        if len(unpacked) > most:
            raise InputError(
                path, f"unpacks to more than {RATIO} times its size", "this is no list: fetch it again"
            )
        return unpacked
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(path, f"the gzip data are broken ({error})", "fetch the file again") from error


def _read(path: Path) -> bytes:
    kept = _KEPT.get()
    if kept is None or not is_stream(path):
        return read_whole(path)
    if path not in kept:
        kept[path] = read_whole(path)
    return kept[path]


def read_text(path: str | Path) -> str:
    """The text of a whole UTF-8 file.

    Raises:
        InputError: as `read_bytes`, or a byte is not UTF-8; it names the line.
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data.count(b"\n", 0, error.start) + 1, data[error.start]) from error


def lines(path: str | Path, closed: bool = True) -> Iterator[tuple[int, str | InputError]]:
    r"""Yield (number from 1, line without its end) of a UTF-8 file; a line that cannot be read is its error.

    Lines end with \n or \r\n alone: other line breaks of Unicode are part of a text.

    Args:
        closed: the last line must end too. A number that was cut short still looks like one, so formats whose
            lines close with no mark of their own cannot do without.

    Raises:
        InputError: as `read_bytes`.
    """
    *whole, last = read_bytes(path).removeprefix(BYTE_ORDER_MARK).split(b"\n")
    for number, line in enumerate(whole, start=1):
        yield number, _decoded(line, path, number)
    if last and closed:
        reason, remedy = "the last line does not end: the file may be cut short", "end it with a line break"
        yield len(whole) + 1, InputError(f"{path}:{len(whole) + 1}", reason, remedy)
    elif last:
        yield len(whole) + 1, _decoded(last, path, len(whole) + 1)


def number_in(text: str, place: str, what: str = "score") -> float:
    """The finite number that a text is, spaces around it allowed.

    Raises:
        InputError: it is none, or NaN or infinite.
    """
    text = text.strip(BLANK)
    if not NUMBER.fullmatch(text):
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        raise InputError(place, f'a finite number was expected as the {what}, not "{shown}"')
    number = float(text)
    if not math.isfinite(number):
        raise InputError(place, f"the {what} is {number}, a finite number was expected")
    return number


def _decoded(line: bytes, path: str | Path, number: int) -> str | InputError:
    if b"\0" in line:
        return InputError(f"{path}:{number}", "a NUL byte", "the file is damaged, or is no text")
    try:
        return line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(path, number, line[error.start])


def _not_utf8(path: str | Path, line: int, byte: int) -> InputError:
    return InputError(path, f"line {line}: byte {byte:#04x} is not UTF-8", "save the file as UTF-8")
