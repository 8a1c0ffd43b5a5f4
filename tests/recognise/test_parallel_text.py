"""Parallel text is read as it lies, and what is malformed is named by file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.recognise.parallel_text import ParallelText, read_parallel


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_pairs_are_read_from_plain_and_gzipped_files(tmp_path: Path) -> None:
    source = written(tmp_path / "a.de.gz", gzip.compress("Ein  Hund.\r\nZwei\u2028Hunde\t!\n".encode()))
    target = written(tmp_path / "a.en", b"\xef\xbb\xbfA dog.\nTwo dogs!")
    expected = ParallelText(("Ein Hund.", "Zwei Hunde !"), ("A dog.", "Two dogs!"))
    assert read_parallel(source, target) == expected


MALFORMED = {
    "more lines": (b"a\nb\nc\n", b"a\nb\n", "a.de and {folder}/a.en: 3 and 2 lines"),
    "an empty line": (b"a\n \t\nc\n", b"a\nb\nc\n", "a.de:2: an empty line; take the line out of both files"),
    "an empty last line": (b"a\n\n", b"a\nb\n", "a.de:2: an empty line"),
    "an empty line of the target": (b"a\nb\n", b"a\n\n", "a.en:2: an empty line"),
    "a NUL": (b"a\nb\0b\n", b"a\nb\n", "a.de:2: a NUL character"),
    "broken bytes": (b"a\nb\nc\xff\n", b"a\nb\nc\n", "a.de: line 3: byte 0xff is not UTF-8"),
    "nothing": (b"", b"", "a.de: holds no line"),
    "broken gzip": (gzip.compress(b"a\n")[:-4], b"a\n", "a.de: the gzip data are broken"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_text_is_named_with_place_and_reason(name: str, tmp_path: Path) -> None:
    source, target, expected = MALFORMED[name]
    with pytest.raises(InputError) as caught:
        read_parallel(written(tmp_path / "a.de", source), written(tmp_path / "a.en", target))
    line = str(caught.value)
    assert line.startswith(str(tmp_path))
    assert "\n" not in line
    assert expected.format(folder=tmp_path) in line


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.de: cannot be read"):
        read_parallel(tmp_path / "absent.de", tmp_path / "absent.en")
