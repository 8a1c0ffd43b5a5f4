"""Special files are read and written through; a path may be text."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import InputError
from quartet.export.folder import load_export
from quartet.files import read_json
from quartet.scoring import language_model
from quartet.tasks.classification.data import read_labelled
from quartet.tasks.sts.data import read_lee
from quartet.tasks.word_vectors import load_vectors
from quartet.tasks.wordsim.data import read_word_pairs
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.plain import read_text
from quartet.text.wikitext_corpus import read_wikitext
from quartet.user_files import descriptor, is_stream, open_for_writing, read_whole


def test_open_files_are_known_by_every_name_and_by_links(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/dev/stdout")
    (tmp_path / "further").symlink_to("out")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "file").touch()
    names = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/63": 63, "/proc/self/fd/7": 7}
    assert {name: descriptor(name) for name in names} == names
    assert descriptor(f"/proc/{os.getpid()}/fd/5") == 5
    assert descriptor(tmp_path / "further") == 1
    assert [descriptor(tmp_path / name) for name in ("null", "file", "none")] == [None] * 3
    assert [is_stream(tmp_path / name) for name in ("further", "null", "file", "none")] == [
        *(True, True, False, False)
    ]


def test_files_are_written_behind_links_and_special_files_through(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk/out")
    for text in ("first", "second"):  # before the file is there, and after
        with open_for_writing(tmp_path / "link") as file:
            file.write(text)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "out").read_text() == "second"
    with open_for_writing("/dev/null") as file:
        file.write("nothing")
    assert Path("/dev/null").is_char_device()
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(read_whole(tmp_path / "pipe")))
    reader.start()
    with open_for_writing(tmp_path / "pipe") as file:
        file.write("é\n")
    reader.join()
    assert read == ["é\n".encode()]
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(InputError, match="is a folder"), open_for_writing(tmp_path):
        pass
    if Path("/dev/full").exists():
        said = r"/dev/full: cannot be written \(No space"
        with pytest.raises(InputError, match=said), open_for_writing("/dev/full") as file:
            file.write("x")


def test_nothing_is_written_through_where_the_work_fails(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(RuntimeError), open_for_writing("/dev/stdout") as file:
        file.write("half")
        raise RuntimeError
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize(
    "read",
    [
        read_json,
        read_text,
        read_wikitext,
        read_word_pairs,
        read_labelled,
        lambda path: read_lee(path, path),
        lambda path: load_vectors(path, "glove", lowercase=True),
        lambda path: EncodedCorpus.open(path, "train"),
        language_model.load,
        load_export,
    ],
)
def test_a_path_may_be_given_as_text(tmp_path: Path, read: Callable[[str | Path], Any]) -> None:
    said = []
    for path in (tmp_path / "missing", str(tmp_path / "missing")):
        with pytest.raises(InputError, match="missing") as error:
            list(read(path))
        said.append(str(error.value))
    assert said[0] == said[1]
