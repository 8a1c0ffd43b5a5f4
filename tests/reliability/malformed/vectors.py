"""Files of word vectors: GloVe's, and Word2Vec's as text and binary."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.evaluation.word_vectors import VectorFormat, load_vectors
from tests.reliability.malformed.case import Case, damaged_text, gzipped

GLOVE = b"the 0.1 0.2 0.3\ncat 0.4 0.5 0.6\n"
WORD2VEC = b"2 3\n" + GLOVE
BINARY = b"2 3\n" + b"".join(
    word + b" " + struct.pack("<3f", *values)
    for word, values in ((b"the", (0.1, 0.2, 0.3)), (b"cat", (0.4, 0.5, 0.6)))
)
NAMES: dict[VectorFormat, str] = {
    "glove": "glove.txt",
    "word2vec": "vectors.txt",
    "word2vec-binary": "vectors.bin",
}


def cases() -> Iterator[Case]:
    for form, texts in FORMATS.items():
        name = NAMES[form]
        for what, (data, says) in texts.items():
            yield Case(f"vectors/{form}", what, {name: data}, _reader(form, name), says)
        yield Case(f"vectors/{form}", "no such file", {}, _reader(form, name), f"{name}: cannot be read")
    for what, where, data, says in damaged_text("glove.txt", GLOVE):
        yield Case("vectors/glove", what, {where: data}, _reader("glove", where), says)


def _reader(form: VectorFormat, name: str) -> Callable[[Path], object]:
    return lambda folder: load_vectors(folder / name, form, lowercase=True)


FORMATS: dict[VectorFormat, dict[str, tuple[bytes, str]]] = {
    "glove": {
        "empty": (b"", "glove.txt: holds no word vectors|cannot be read as word vectors"),
        "a word alone": (b"the\n", "glove.txt"),
        "a number too few": (GLOVE + b"dog 0.1 0.2\n", "glove.txt:3: 2 numbers, 3 were expected"),
        "a number too many": (GLOVE + b"dog 1 2 3 4\n", "glove.txt:3: 4 numbers, 3 were expected"),
        "a line that is cut short": (GLOVE[:-7], "glove.txt:2: 2 numbers, 3 were expected"),
        "a word for a number": (
            GLOVE.replace(b"0.5", b"half"),
            "cannot be read as word vectors of the format glove",
        ),
        "NaN": (GLOVE.replace(b"0.5", b"nan"), "holds a vector that is not finite"),
        "infinity": (GLOVE.replace(b"0.5", b"1e99"), "holds a vector that is not finite"),
        "a header": (WORD2VEC, "glove.txt:2: 3 numbers, 1 were expected"),
        "tabs": (GLOVE.replace(b" ", b"\t"), "glove.txt"),
        "a NUL": (GLOVE.replace(b"cat", b"c\0t"), "glove.txt:2: a NUL"),
        "a line of 3 million characters": (
            b"the " + b"9" * 3_000_000 + b"\n",
            "glove.txt:1: a line of more than 1 MiB",
        ),
        "the binary form": (BINARY, "glove.txt"),
        "HTML": (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "glove.txt"),
    },
    "word2vec": {
        "empty": (b"", "vectors.txt: cannot be read"),
        "no header": (GLOVE, "vectors.txt"),
        "a header of words": (b"two three\n" + GLOVE, "vectors.txt"),
        "more words than it says": (
            b"1 3\n" + GLOVE,
            "holds 2 words of 3 numbers, its first line says 1 of 3",
        ),
        "fewer words than it says": (
            b"3 3\n" + GLOVE,
            "holds 2 words of 3 numbers, its first line says 3 of 3",
        ),
        "longer vectors than it says": (b"2 2\n" + GLOVE, "vectors.txt"),
        "a thousand million words": (b"1000000000 300\n" + GLOVE, "its first line says 1000000000"),
        "a negative number of words": (b"-2 3\n" + GLOVE, "vectors.txt"),
        "no word": (b"0 3\n", "vectors.txt"),
        "a number of 5,000 digits": (b"9" * 5000 + b" 3\n" + GLOVE, "vectors.txt"),
        "gzip of another file": (gzipped(b"hello\n"), "vectors.txt"),
    },
    "word2vec-binary": {
        "empty": (b"", "vectors.bin:1: the number of words"),
        "a header alone": (b"2 3\n", "vectors.bin"),
        "cut in a vector": (BINARY[:-5], "vectors.bin: cut short"),
        "cut in a word": (BINARY[: BINARY.index(b"cat") + 1], "vectors.bin: cut short"),
        "the text form": (WORD2VEC.replace(b"0.", b"0.00"), "vectors.bin"),
        "more words than it says": (
            BINARY.replace(b"2 3", b"1 3", 1),
            "vectors.bin: holds more than the 1 words",
        ),
        "a thousand million words": (
            BINARY.replace(b"2 3", b"1000000000 300", 1),
            "cut short after 0 of 1,000,000,000",
        ),
        "vectors of 2 thousand million numbers": (
            BINARY.replace(b"2 3", b"1 2000000000", 1),
            "vectors of 2,000,000,000 numbers",
        ),
        "a word in Latin-1": (BINARY.replace(b"cat", b"c\xe9t"), "vectors.bin"),
        "NaN": (BINARY[:-4] + struct.pack("<f", float("nan")), "holds a vector that is not finite"),
        "a pickle": (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.", "vectors.bin"),
    },
}
