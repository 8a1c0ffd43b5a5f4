"""Files that no table shows: Parquet, archives, packed and UTF-16 text, word vectors in binary."""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator

from tests.reliability.malformed.case import Case, gzipped, parquet, zipped
from tests.reliability.malformed.rows import reader, valid

BINARY = b"2 3\n" + b"".join(
    word + b" " + struct.pack("<3f", *values)
    for word, values in ((b"the", (0.1, 0.2, 0.3)), (b"cat", (0.4, 0.5, 0.6)))
)
_minimal, _small = valid("blimp/blimp"), valid("ngram/arpa")
_archive = zipped(a__jsonl=_minimal)
_encrypted = bytearray(_archive)
_encrypted[6] |= 1
_encrypted[_encrypted.index(b"PK\x01\x02") + 8] |= 1
_question = {"id": ["a"], "title": [""], "context": ["A"], "question": ["Q"]}

#: By kind: what is wrong, the file, its content, words that the line must hold.
FILES: dict[str, list[tuple[str, str, bytes, str]]] = {
    "sts/stsb": [
        ("no score", "dev.parquet", parquet(sentence1=["a"], sentence2=["b"]), "no column label"),
        (
            "a likeness above 1",
            "dev.parquet",
            parquet(sentence1=["a"], sentence2=["b"], score=[1.2]),
            "row 1: the score 1.2 is not within 0 and 1",
        ),
        (
            "a sentence that is a number",
            "dev.parquet",
            parquet(sentence1=[1], sentence2=["b"], score=[1.0]),
            "sentence1 is int, a text was expected",
        ),
        (
            "a sentence that is missing",
            "dev.parquet",
            parquet(sentence1=[None, "a"], sentence2=["b", "b"], score=[1.0, 1.0]),
            "row 1: sentence1 is NoneType",
        ),
    ],
    "glue/forms": [
        (
            "a label that is a fraction",
            "dev.parquet",
            parquet(sentence1=["a"], sentence2=["b"], label=[0.5], idx=[0]),
            "row 1: 0.5 is no label",
        ),
        (
            "text that is no UTF-8 in Parquet",
            "dev.parquet",
            parquet(sentence1=["caf\xe9"], sentence2=["b"], label=[0]).replace(b"\xc3\xa9", b"\xe9\xe9"),
            "dev.parquet",
        ),
    ],
    "squad/squad1": [
        (
            "answers of two lengths",
            "dev.parquet",
            parquet(**_question, answers=[{"text": ["A"], "answer_start": [0, 1]}]),
            "1 texts of answers and 2 places",
        ),
        (
            "answers that are a text",
            "dev.parquet",
            parquet(**_question, answers=["A"]),
            "answers is str, dict was expected",
        ),
    ],
    "race/race": [
        (
            "a passage that changes",
            "dev.parquet",
            parquet(
                example_id=["high1.txt"] * 2,
                article=["A heron.", "A fish."],
                question=["Who?"] * 2,
                options=[["a", "b", "c", "d"]] * 2,
                answer=["A"] * 2,
            ),
            "another passage has the id high1.txt already",
        )
    ],
    "blimp/blimp": [
        ("an archive that is cut short", "pairs.zip", _archive[:-30], "not a zip file"),
        ("an empty archive", "pairs.zip", zipped(), "holds no pair"),
        ("an archive without .jsonl", "pairs.zip", zipped(readme__txt=b"hello"), "holds no pair"),
        (
            "an archive with broken data",
            "pairs.zip",
            _archive.replace(_archive[40:60], bytes(255 - byte for byte in _archive[40:60])),
            "not a zip file that can be read",
        ),
        (
            "an encrypted archive",
            "pairs.zip",
            bytes(_encrypted),
            "not a zip file that can be read.*encrypted",
        ),
        ("a member that is no JSON", "pairs.zip", zipped(a__jsonl=b"hello\n"), "pairs.zip/a.jsonl:1: not a"),
        ("a member with a pair twice", "pairs.zip", zipped(a__jsonl=_minimal * 2), "a.jsonl:2: the pair 0"),
        (
            "a member in Latin-1",
            "pairs.zip",
            zipped(a__jsonl=b'{"a": "caf\xe9"}\n'),
            "byte 0xe9 is not utf-8",
        ),
    ],
    "vectors/glove": [("the binary form", "glove.txt", BINARY, "glove.txt")],
    "vectors/word2vec": [("gzip of another file", "vectors.txt", gzipped(b"hello\n"), "vectors.txt")],
    "vectors/word2vec-binary": [
        ("cut in a vector", "vectors.bin", BINARY[:-5], "vectors.bin: cut short"),
        (
            "more words than it says",
            "vectors.bin",
            BINARY.replace(b"2 3", b"1 3", 1),
            "vectors.bin: holds more than the 1 words",
        ),
        (
            "a thousand million words",
            "vectors.bin",
            BINARY.replace(b"2 3", b"1000000000 300", 1),
            "cut short after 0 of 1,000,000,000",
        ),
        (
            "vectors of 2 thousand million numbers",
            "vectors.bin",
            BINARY.replace(b"2 3", b"1 2000000000", 1),
            "vectors of 2,000,000,000 numbers",
        ),
        ("a word in Latin-1", "vectors.bin", BINARY.replace(b"cat", b"c\xe9t"), "vectors.bin"),
        ("NaN", "vectors.bin", BINARY[:-4] + struct.pack("<f", float("nan")), "a vector that is not finite"),
        ("a pickle", "vectors.bin", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.", "vectors.bin"),
    ],
    "corpus/text": [
        ("UTF-16 with its mark", "prose.txt", "The heron.".encode("utf-16"), "prose.txt:1: not UTF-8"),
        ("UTF-16 without its mark", "prose.txt", "The heron.".encode("utf-16-le"), "prose.txt:1: a NUL"),
        ("a picture", "prose.txt", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "prose.txt:1: not UTF-8"),
    ],
    "ngram/arpa": [("UTF-16", "model.arpa", _small.decode().encode("utf-16"), "cannot be read")],
    "ngram/sizes": [
        ("gzip cut short", "model.arpa.gz", gzipped(_small)[:-12], "model.arpa.gz"),
        ("another gzip", "model.arpa.gz", gzipped(_small)[:4] + b"\xff" * 40, "model.arpa.gz"),
    ],
    "ngram/file": [
        (
            "xz",
            "lm.arpa.xz",
            lzma.compress(_small),
            "is packed with xz, which KenLM does not read; unpack it: unxz",
        )
    ],
}

#: By kind: what is wrong, the files of the folder, words that the line must hold.
FOLDERS: list[tuple[str, str, dict[str, bytes], str]] = [
    ("blimp/blimp", "an empty folder", {"dev/a.txt": b""}, "holds no pair"),
    (
        "blimp/blimp",
        "a pair in two files",
        {"dev/a.jsonl": _minimal, "dev/b.jsonl": _minimal},
        "the pair 0 of .* is there already",
    ),
    (
        "source/parallel",
        "xz cut short",
        {"a.de": lzma.compress(b"eins\n")[:-6], "a.en": b"one\n"},
        "a.de: the xz data are broken",
    ),
    (
        "source/parallel",
        "gzip cut short",
        {"a.de": gzipped(b"eins\n")[:-6], "a.en": b"one\n"},
        "a.de: the gzip data are broken",
    ),
]


def cases() -> Iterator[Case]:
    for kind, rows in FILES.items():
        for what, file, data, says in rows:
            yield Case(kind, what, {file: data}, reader(kind, "" if kind == "corpus/text" else file), says)
    for kind, what, files, says in FOLDERS:
        yield Case(kind, what, files, reader(kind, ""), says)
