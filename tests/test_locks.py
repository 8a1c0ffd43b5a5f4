"""Locks of files that are being written, also where the system has no `fcntl` (Windows)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quartet.files import hold_lock
from tests.imports import ROOT

#: What makes `import fcntl` fail, as on Windows.
WITHOUT = "import sys\nsys.modules['fcntl'] = None\n"

WRITES = """
import os, quartet
from pathlib import Path
from quartet.files import atomic_dir, atomic_path, hold_lock
with atomic_path("out.txt") as outer:
    outer.write_text("outer")
    with atomic_path("out.txt") as inner:
        inner.write_text("inner")
    assert outer.read_text() == "outer", "what is in use stays"
with atomic_dir("model") as folder:
    (folder / "a").touch()
    with hold_lock(folder) as free:
        assert not free
Path(".unfinished-out.txt.abc").touch()  # of a process that ended
with atomic_path("out.txt") as again:
    again.write_text("again")
print(sorted(os.listdir()), Path("out.txt").read_text())
"""

SCORES = """
import quartet.cli
quartet.cli.main(["score"])
"""


def without_fcntl(code: str, folder: Path, text: str = "") -> str:
    """What a program prints where `fcntl` cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_has_it_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file"):
        with hold_lock(path) as first, hold_lock(path) as second:
            assert (first, second) == (True, False)
        with hold_lock(path) as third:
            assert third
    with pytest.raises(FileNotFoundError), hold_lock(tmp_path / "none"):
        pass


def test_files_are_written_and_swept_without_fcntl(tmp_path: Path) -> None:
    assert without_fcntl(WRITES, tmp_path) == "['model', 'out.txt'] again\n"


def test_the_model_that_comes_with_quartet_scores_without_fcntl(tmp_path: Path) -> None:
    assert float(without_fcntl(SCORES, tmp_path, "the cat sat on the mat\n")) < 0
