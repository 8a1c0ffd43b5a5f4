"""What a killed DVC or a merge leaves in DVC's files: mended before a run where nothing is lost, or named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import repair_dvc_files
from quartet.errors import InputError

#: As DVC writes it.
LOCKED = """schema: '2.0'
stages:
  download@a:
    cmd: python -m stages.download a
    deps:
    - path: pipeline/run.py
      hash: md5
      md5: 9d6a3c3e0c6f3f0a2c3a6d6f5b1f2f11
      size: 3249
  segment@a:
    cmd: python -m stages.segment a
    deps:
    - path: pipeline/run.py
      hash: md5
      md5: 9d6a3c3e0c6f3f0a2c3a6d6f5b1f2f11
      size: 3249
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dvc.lock and a list of locks, both whole."""
    (tmp_path / ".dvc" / "tmp").mkdir(parents=True)
    (tmp_path / ".dvc" / "tmp" / "rwlock").write_text('{"read": {}, "write": {}}')
    (tmp_path / "dvc.lock").write_text(LOCKED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_killed_dvc_left_unreadable_is_removed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = (Path("dvc.lock"), Path(".dvc/tmp/rwlock"))
    repair_dvc_files.repair_dvc_files()
    assert all(path.is_file() for path in files) and not capsys.readouterr().err
    second = LOCKED.index("  segment")
    for content in ("", *(LOCKED[: second + len(cut)] for cut in ("  segment@a:", "  segment@a:\n    cm"))):
        Path("dvc.lock").write_text(content)
        Path(".dvc/tmp/rwlock").write_text('{"read": {')
        repair_dvc_files.repair_dvc_files()
        assert not any(path.exists() for path in files), content
        assert capsys.readouterr().err.count("removed, a DVC that was killed") == 2
    for content in (LOCKED[:second], LOCKED[:second] + "  segment@a:\n    cmd: python -m st"):
        Path("dvc.lock").write_text(content)
        repair_dvc_files.repair_dvc_files()
        assert Path("dvc.lock").is_file(), "DVC reads it, and takes the rest from its cache of runs"


@pytest.mark.parametrize("temporary", [True, False], ids=["used", "just cloned"])
def test_the_conflicts_of_a_merge_are_named_and_left(folder: Path, temporary: bool) -> None:
    """As git writes them: each side's entry between marks."""
    if not temporary:
        shutil.rmtree(".dvc")
    second = LOCKED.index("  segment")
    ours, theirs = LOCKED[second:], LOCKED[second:].replace("9d6a", "1234")
    conflict = f"{LOCKED[:second]}<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    Path("dvc.lock").write_text(conflict)
    with pytest.raises(InputError, match=rf"dvc\.lock:{LOCKED[:second].count(chr(10)) + 1}: "):
        repair_dvc_files.repair_dvc_files()
    assert Path("dvc.lock").read_text() == conflict
    Path("dvc.lock").write_text(LOCKED)
    Path("params.yaml").write_text("<<<<<<< HEAD\nseeds: [1]\n=======\nseeds: [2]\n>>>>>>> other\n")
    with pytest.raises(InputError, match=r"params\.yaml:1: "):
        repair_dvc_files.repair_dvc_files()


def test_nothing_is_mended_while_a_dvc_is_at_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dvc import lock

    monkeypatch.setattr(lock, "DEFAULT_TIMEOUT", 0)
    Path("dvc.lock").write_text("stages:\n  a: {")
    command = "from dvc.lock import make_lock\nwith make_lock('.dvc/tmp/lock'): print(1, flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
    )
    assert other.stdout is not None and other.stdout.read(1) == b"1"
    repair_dvc_files.repair_dvc_files()
    assert Path("dvc.lock").is_file()
    other.communicate(b"\n")
    repair_dvc_files.repair_dvc_files()
    assert not Path("dvc.lock").exists()
