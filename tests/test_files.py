"""A file is whole or absent."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.files import atomic_dir, atomic_path, read_json, read_jsonl, sha256, write_json, write_jsonl
from tests.imports import ROOT


def leftovers(folder: Path) -> list[str]:
    """Every name in a folder, hidden ones included."""
    return sorted(os.listdir(folder))


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out.txt"
    with atomic_path(target) as temporary:
        temporary.write_text("half")
        assert not target.exists()
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert leftovers(target.parent) == ["out.txt"]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_path(target) as temporary:
        temporary.write_text("new")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert leftovers(tmp_path) == ["out.txt"]


def test_a_folder_replaces_the_old_one_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for name in ("first", "second"):
        with atomic_dir(target) as temporary:
            (temporary / name).write_text(name)
    assert leftovers(target) == ["second"]
    with pytest.raises(RuntimeError), atomic_dir(target) as temporary:
        (temporary / "third").write_text("half")
        raise RuntimeError
    assert leftovers(target) == ["second"]
    assert leftovers(tmp_path) == ["model"]


def test_permissions_are_the_ordinary_ones(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_json(tmp_path / "a.json", 1)
        with atomic_dir(tmp_path / "folder"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o755


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"), atomic_path(tmp_path / "file" / "out.txt"):
        pass
    with pytest.raises(InputError, match="cannot be written"), atomic_dir(tmp_path / "file" / "out"):
        pass


def test_what_a_killed_writer_left_is_removed_and_no_more(tmp_path: Path) -> None:
    """A process gets SIGKILL while it writes a file and a folder; the next writer of each clears its own."""
    script = (
        "import os, signal, sys\n"
        "from quartet.files import atomic_dir, atomic_path\n"
        "with atomic_path('out.txt') as file, atomic_dir('model') as folder:\n"
        "    file.write_text('half'); (folder / 'half').touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=False)
        assert killed.returncode == -signal.SIGKILL
    assert len(leftovers(tmp_path)) == 2, "the second had cleared what the first left"
    with atomic_path(tmp_path / "out.txt") as outer:
        outer.write_text("outer")
        with atomic_path(tmp_path / "out.txt") as inner:
            inner.write_text("inner")
        assert outer.read_text() == "outer", "what is in use stays"
    assert (tmp_path / "out.txt").read_text() == "outer"
    with atomic_dir(tmp_path / "model"):
        pass
    assert leftovers(tmp_path) == ["model", "out.txt"]


def test_the_hash_is_of_the_bytes(tmp_path: Path) -> None:
    data = bytes(range(256)) * 9000
    (tmp_path / "data").write_bytes(data)
    assert sha256(tmp_path / "data") == hashlib.sha256(data).hexdigest()


def test_lines_of_json_come_back_with_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [{"b": 1, "a": "é"}, {"c": None}])
    assert path.read_text(encoding="utf-8") == '{"a": "é", "b": 1}\n{"c": null}\n'
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert list(read_jsonl(path)) == [(1, {"a": 1}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1}\n{"a": \n', ":2: not a line of JSON"),
        (b'{"a": 1}\n\xff\n', ":2: not a line of JSON"),
        (b"[1]\n", ":1: a JSON object was expected, not list"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "rows.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=said):
        list(read_jsonl(tmp_path / "rows.jsonl"))


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    for read in (read_json, lambda path: list(read_jsonl(path))):
        with pytest.raises(InputError, match=r"none\.json: no such file"):
            read(tmp_path / "none.json")
    (tmp_path / "half.json").write_text('{"a": ')
    with pytest.raises(InputError, match=r"half\.json: not valid JSON"):
        read_json(tmp_path / "half.json")


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_jsonl(tmp_path / "a.jsonl", [{"x": float("inf")}])
    assert leftovers(tmp_path) == []
