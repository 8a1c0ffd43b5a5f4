r"""Writing ARPA files: the same model gives the same bytes.

The form: ``\data\`` with the number of n-grams of each order; for each order ``\n-grams:`` and lines of log10
probability, words, and (but for the highest order) log10 backoff weight, separated by tabs; ``\end\``.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.files import atomic_path
from quartet.ngram.counts import Grams
from quartet.ngram.kneser_ney import Level, Smoothing

#: Lines that are put together at once.
CHUNK = 1 << 16
#: Of gzip: higher levels take several times as long and gain a few percent.
COMPRESSION = 4


@contextmanager
def created(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
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
    with created(path) as file:
        file.write(b"\\data\\\n")
        for n, size in enumerate(smoothing.sizes(), start=1):
            file.write(f"ngram {n}={size}\n".encode())
        for n, level in enumerate(smoothing.levels(), start=1):
            file.write(f"\n\\{n}-grams:\n".encode())
            for lines in _lines(level, smoothing.grams[:n], names):
                file.write(lines.encode("utf-8"))
        file.write(b"\n\\end\\\n")


def _lines(level: Level, grams: Sequence[Grams], names: np.ndarray) -> Iterator[str]:
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
    sizes: list[int] = []
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            if file.readline().strip() != "\\data\\":
                raise InputError(path, "not an ARPA file: it does not begin with \\data\\")
            for text in file:
                if not text.strip():
                    break
                name, _, size = text.partition("=")
                if name.split() != ["ngram", str(len(sizes) + 1)] or not size.strip().isdigit():
                    raise InputError(path, f"not an ARPA file: {text.strip()!r} is no number of n-grams")
                sizes.append(int(size))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read ({error})") from error
    return sizes
