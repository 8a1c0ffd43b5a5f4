"""The project as last committed, where a user's own run rewrites it: reports, params.yaml and dvc.lock.

Tests that speak of a committed report read it here, never in the working tree: `make repro` may have come first.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.imports import ROOT

#: What a run rewrites.
REWRITTEN = ("reports/", "params.yaml", "dvc.lock")
_KEPT = TemporaryDirectory(prefix="committed-")


@cache
def _archive() -> Path | None:
    """The last commit's files but for the tests; None outside a git checkout."""
    done = subprocess.run(
        ["git", "archive", "HEAD", "--", ".", ":!tests", ":!weights/tta-books"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return None
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        # Python 3.11.0 to 3.11.3 know no filter; the archive is git's own of this repository.
        archive.extractall(_KEPT.name, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return Path(_KEPT.name)


def committed(path: str) -> Path:
    """A file or folder as committed, to be read only; skips the test outside a git checkout."""
    folder = _archive()
    if folder is None:
        pytest.skip("not a git checkout: there is no committed version to read")
    assert (folder / path).exists(), f"{path} is not committed"
    return folder / path


def report_rows(name: str) -> Path:
    """The results.jsonl of a committed report."""
    return committed(f"reports/{name}/results.jsonl")


def timings(name: str) -> Path:
    """The durations of a committed report."""
    return committed(f"reports/{name}/times/timings.jsonl")


def copy_project(folder: Path, *without: str) -> None:
    """Copy what git knows or would take of the working tree; what a run rewrites as it was committed.

    Args:
        without: beginnings of the paths to leave out.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a git checkout: it cannot be copied")
    rewritten = [path for place in REWRITTEN for path in _files(committed(place.rstrip("/")))]
    sources = {
        name: ROOT / name for name in listed.stdout.split("\0") if name and not name.startswith(REWRITTEN)
    }
    sources |= {path.relative_to(_KEPT.name).as_posix(): path for path in rewritten}
    for name, source in sources.items():
        if source.is_file() and not name.startswith(without):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
