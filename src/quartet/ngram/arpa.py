r"""Writing ARPA files: the same model gives the same bytes.

The form: ``\data\`` with the number of n-grams of each order; for each order ``\n-grams:`` and lines of log10
probability, words, and (but for the highest order) log10 backoff weight, separated by tabs; ``\end\``.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from numpy.typing import NDArray

from quartet.config.ngram import LEAST_ORDER, MOST_ORDER
from quartet.errors import InputError
from quartet.files import atomic_path
from quartet.ngram.counts import NgramCounts
from quartet.ngram.kneser_ney import OrderEntries, Smoothing
from quartet.ngram.tokens import UNKNOWN

#: Lines that are put together at once.
CHUNK = 1 << 16
#: Characters of a line that says how many n-grams there are, and digits of their number.
LONGEST_LINE, DIGITS = 1 << 12, 15
#: Lines of a comment before an ARPA file, at most.
HEADER = 1000
#: How gzipped files begin, and those that KenLM's packages cannot read, with what unpacks them.
GZIP = b"\x1f\x8b"
PACKED = {b"BZh": ("bzip2", "unpack it: bunzip2"), b"\xfd7zXZ": ("xz", "unpack it: unxz")}
#: Of gzip: higher levels take several times as long and gain a few percent.
COMPRESSION = 4


@contextmanager
def create_arpa_file(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """A file to write, compressed where its name ends in .gz (with no time in it), that is whole or absent."""
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", COMPRESSION, file, mtime=0) as zipped:
                yield zipped
        else:
            yield file


def write_arpa(path: Path, words: Sequence[str], smoothing: Smoothing) -> None:
    """Write a model, its n-grams sorted by their last word, then the last but one, and so on.

    Args:
        path: of the file; ``.gz`` compresses it.
        words: the words by number.
    """
    names = np.array(words, dtype=object)
    with create_arpa_file(path) as file:
        file.write(b"\\data\\\n")
        for n, size in enumerate(smoothing.sizes(), start=1):
            file.write(f"ngram {n}={size}\n".encode())
        for n, level in enumerate(smoothing.levels(), start=1):
            file.write(f"\n\\{n}-grams:\n".encode())
            for lines in _lines(level, smoothing.grams[:n], names):
                file.write(lines.encode("utf-8"))
        file.write(b"\n\\end\\\n")


def _lines(level: OrderEntries, grams: Sequence[NgramCounts], names: np.ndarray) -> Iterator[str]:
    """The lines of one order, a chunk at a time."""
    line = "%.7g\t" + " ".join(["%s"] * len(grams)) + ("\n" if level.backoff is None else "\t%.7g\n")
    for at in range(0, len(level.kept), CHUNK):
        part = slice(at, at + CHUNK)
        number: NDArray[np.integer] = level.kept[part]
        columns = [(level.logprob[part] + 0.0).tolist()]  # + 0.0: no "-0"
        for one in reversed(grams):
            columns.append(names[one.first[number]].tolist())
            number = one.rest[number]
        if level.backoff is not None:
            columns.append((level.backoff[part] + 0.0).tolist())
        yield "".join([line % row for row in zip(*columns, strict=True)])


def read_sizes(path: Path) -> list[int]:
    """How many n-grams of each order a file says that it holds.

    Raises:
        InputError: the file is absent or does not begin as an ARPA file does.
    """
    with _opened(path) as file:
        return _sizes(file, path)


def read_words(path: Path) -> Iterator[str]:
    """The words of a file's unigrams, <unk> and the ends of a sentence among them."""
    with _opened(path) as file:
        for line in file:
            if line.strip() == "\\1-grams:":
                break
        for line in file:
            parts = line.split()
            if line.startswith("\\"):
                break
            if len(parts) > 1:
                yield parts[1]


def begins_as_arpa(path: Path) -> bool:
    """Whether the first line of a file that is not blank is that of an ARPA file."""
    try:
        with _opened(path) as file:
            return _first_line(file) == "\\data\\"
    except InputError:
        return False


def has_arpa(path: Path) -> bool:
    """Whether an ARPA file begins in one of the first lines, behind a comment or a byte-order mark."""
    try:
        with _opened(path) as file:
            return any(file.readline(LONGEST_LINE).strip("\ufeff \r\n") == "\\data\\" for _ in range(HEADER))
    except (InputError, UnicodeError):
        return False


def check_start(path: Path) -> None:
    """Look at what KenLM itself does not: the numbers of n-grams, and that there is a probability of unknown words.

    It takes a negative number for a large one, and writes beyond its memory; for a missing <unk> it makes up 1e-100.

    Raises:
        InputError: as :func:`read_sizes`, KenLM reads no such order, or there is no <unk>.
    """
    with _opened(path) as file:
        order = len(_sizes(file, path))
        if not LEAST_ORDER <= order <= MOST_ORDER:
            reason = (
                f"has n-grams up to the order {order}, and KenLM here reads {LEAST_ORDER} to {MOST_ORDER}"
            )
            raise InputError(path, reason, "estimate one of these orders")
        while line := file.readline(LONGEST_LINE):
            if line.split()[1:2] in ([UNKNOWN], [UNKNOWN.upper()]):  # KenLM takes both
                return
            if line.startswith(("\\2-grams:", "\\end\\")):
                break
        raise InputError(path, f"has no {UNKNOWN}: unknown words have no probability", "estimate it with one")


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    try:
        with open(path, "rb") as start:
            opener = gzip.open if start.read(len(GZIP)) == GZIP else open
        with opener(path, "rt", encoding="utf-8") as file:
            yield file
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(path, f"cannot be read ({error})") from error


def _first_line(file: IO[str]) -> str:
    """The first line that is not blank: some programs begin with a blank one."""
    for _ in range(LONGEST_LINE):
        line = file.readline(LONGEST_LINE)
        if not line or line.strip():
            return line.strip()
    return ""


def _sizes(file: IO[str], path: Path) -> list[int]:
    """The numbers of n-grams with which a file begins.

    Raises:
        InputError: it begins otherwise.
    """
    sizes: list[int] = []
    if _first_line(file) != "\\data\\":
        raise InputError(path, "not an ARPA file: it does not begin with \\data\\")
    while text := file.readline(LONGEST_LINE).strip():
        name, _, size = (part.strip() for part in text.partition("="))
        plain = size.isascii() and size.isdigit() and len(size) <= DIGITS
        if name.split() != ["ngram", str(len(sizes) + 1)] or not plain:
            raise InputError(path, f"not an ARPA file: {text!r:.80} is no number of n-grams")
        sizes.append(int(size))
    if not sizes:
        raise InputError(path, "not an ARPA file: it does not say how many n-grams it has")
    return sizes
