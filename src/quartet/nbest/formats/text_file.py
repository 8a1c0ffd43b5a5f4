"""Files of text, plain or packed: broken bytes, cut lines and odd numbers are refused by name."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, cast

from quartet.errors import InputError
from quartet.user_files import is_stream, read_whole

#: How packed files begin, and what unpacks them.
PACKED: dict[bytes, tuple[str, Callable[[IO[bytes]], IO[bytes]]]] = {
    b"\x1f\x8b": ("gzip", lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file))),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\0": ("xz", lzma.LZMAFile),
}
#: How files begin that have to be unpacked by others, and with what.
UNREAD = {b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d"), b"PK\x03\x04": ("zip", "unzip")}
BYTE_ORDER_MARK = codecs.BOM_UTF8
#: Marks with which texts in other codes begin; the longer ones first, as one begins with another.
MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
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
    """The bytes of a file, unpacked where it is packed, in UTF-8 where its first bytes say that it has another code.

    Both are told by its first bytes, not by its name.

    Raises:
        InputError: the file cannot be read, its compression is broken or another, it unpacks to far more than text
            does, or it has not the code that it says.
    """
    path = Path(path)
    try:
        data = _read(path)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    for magic, (kind, opened) in PACKED.items():
        if data.startswith(magic):
            data = _unpacked(data, kind, opened, path)
            break
    for magic, (kind, command) in UNREAD.items():
        if data.startswith(magic):
            raise InputError(
                path, f"is packed with {kind}, which is not read", f"unpack it: {command} {path}"
            )
    for mark, code in MARKS.items():
        if data.startswith(mark):
            try:
                return data.decode(code).encode("utf-8")
            except UnicodeError as error:
                reason = f"begins as {code} does and is none ({error})"
                raise InputError(path, reason, "save the file as UTF-8") from error
    return data


def _unpacked(data: bytes, kind: str, opened: Callable[[IO[bytes]], IO[bytes]], path: Path) -> bytes:
    most = max(UNPACKED, RATIO * len(data))
    try:
        with opened(io.BytesIO(data)) as file:
            unpacked = file.read(most + 1)
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise InputError(path, f"the {kind} data are broken ({error})", "fetch the file again") from error
    if len(unpacked) > most:
        raise InputError(
            path, f"unpacks to more than {RATIO} times its size", "this is no list: fetch it again"
        )
    return unpacked


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
    data = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    try:
        return data.decode("utf-8")
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
        reason = "a NUL byte: the file is damaged, no text, or UTF-16 without its mark"
        code = "UTF-16BE" if number == 1 and line.startswith(b"\0") else "UTF-16LE"
        return InputError(f"{path}:{number}", reason, f"if so: iconv -f {code} -t UTF-8 {path} > NEW")
    try:
        return line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(path, number, line[error.start])


def _not_utf8(path: str | Path, line: int, byte: int) -> InputError:
    return InputError(path, f"line {line}: byte {byte:#04x} is not UTF-8", "save the file as UTF-8")
