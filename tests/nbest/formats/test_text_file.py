"""Packed texts and texts in other codes than UTF-8 are told by their first bytes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import NBestFiles, read
from quartet.nbest.formats.text_file import lines, read_bytes, read_text
from tests.nbest.lists import nbest

TEXT = "0 ||| é 中 ||| f= 1 ||| -1.5\n0 ||| e ||| f= 1 ||| -2.5\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
CODES = {
    "UTF-8 with a mark": codecs.BOM_UTF8 + TEXT.encode(),
    "UTF-16, little end first": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "UTF-16, big end first": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "UTF-32, little end first": codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
    "UTF-32, big end first": codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
}


@pytest.mark.parametrize("pack", [*PACKERS, None])
@pytest.mark.parametrize("code", CODES)
def test_lists_and_references_are_read(code: str, pack: str | None, tmp_path: Path) -> None:
    for name, data in (("lists", CODES[code]), ("refs", "é\n".encode("utf-16"))):
        (tmp_path / name).write_bytes(data if pack is None else PACKERS[pack](data))
    reading = read("moses", NBestFiles(tmp_path / "lists", references=tmp_path / "refs"))
    assert reading.lists == [nbest("0", "é", ("é 中", -1.5), ("e", -2.5))]
    assert read_text(tmp_path / "lists") == TEXT


@pytest.mark.parametrize("name", PACKERS)
def test_a_packed_file_that_is_cut_is_an_error(name: str, tmp_path: Path) -> None:
    packed = PACKERS[name](TEXT.encode() * 9)
    for end in range(6, len(packed)):
        (tmp_path / "lists").write_bytes(packed[:end])
        with pytest.raises(InputError, match=f"the {name} data are broken"):
            read_bytes(tmp_path / "lists")


@pytest.mark.parametrize("name", PACKERS)
def test_what_unpacks_to_far_more_than_text_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "bomb").write_bytes(PACKERS[name](bytes(1 << 27)))
    with pytest.raises(InputError, match="unpacks to more than 200 times its size"):
        read_bytes(tmp_path / "bomb")


def test_utf_16_that_is_cut_in_a_letter_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "lists").write_bytes(CODES["UTF-16, little end first"][:-1])
    with pytest.raises(InputError, match="begins as UTF-16 does and is none"):
        read_bytes(tmp_path / "lists")


@pytest.mark.parametrize("code", ["UTF-16LE", "UTF-16BE"])
def test_without_a_mark_it_is_refused_with_the_command_that_mends_it(code: str, tmp_path: Path) -> None:
    (tmp_path / "lists").write_bytes(TEXT.encode(code))
    _, refused = next(lines(tmp_path / "lists"))
    assert isinstance(refused, InputError)
    command, _, new = refused.remedy.removeprefix("if so: ").partition(" > ")
    assert (command, new) == (f"iconv -f {code} -t UTF-8 {tmp_path / 'lists'}", "NEW")
    if shutil.which("iconv"):
        done = subprocess.run(command.split(), capture_output=True, check=True)
        assert done.stdout.decode("utf-8") == TEXT


def test_what_others_unpack_is_refused_with_their_command(tmp_path: Path) -> None:
    (tmp_path / "lists").write_bytes(b"\x28\xb5\x2f\xfd0000")
    with pytest.raises(InputError, match="is packed with zstd, which is not read; unpack it: zstd -d"):
        read_bytes(tmp_path / "lists")
    (tmp_path / "lists").write_bytes(b"PK\x03\x040000")
    with pytest.raises(InputError, match="is packed with zip, which is not read; unpack it: unzip"):
        read_bytes(tmp_path / "lists")


@pytest.mark.parametrize("closed", [True, False])
def test_a_last_line_without_an_end_has_the_number_behind_the_others(tmp_path: Path, closed: bool) -> None:
    path = tmp_path / "lists"
    path.write_text("a\nb\nc")
    assert [number for number, _ in lines(path, closed)] == [1, 2, 3]


def test_a_byte_that_is_not_utf_8_is_shown_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "lists").write_bytes(codecs.BOM_UTF8 + "é\nb\n".encode() + b"c\xfe\n")
    with pytest.raises(InputError, match="line 3: byte 0xfe"):
        read_text(tmp_path / "lists")
    *_, (number, refused) = lines(tmp_path / "lists")
    assert number == 3 and "line 3: byte 0xfe" in str(refused)
