"""What a killed DVC may leave unreadable: it writes dvc.lock, and its list of who uses which file, in place.

    python -m pipeline.repair_dvc_files

Where git has left a merge with conflicts, nothing is removed: they are named, with the command that goes on.

`make repro` does it first. What dvc.lock said of the stages that were done is in DVC's cache of runs too: without it
the next `dvc repro` takes their outputs from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pipeline.run import main
from pipeline.tracking.progress import say
from quartet.errors import InputError

LOCK, TEMPORARY = "dvc.lock", Path(".dvc/tmp")
#: Files that two people change, and what to do where git could not merge them.
MERGED = {
    Path("params.yaml"): "keep the lines of both that belong in it and take the marks out",
    Path(LOCK): f"take either side whole, `git checkout --ours {LOCK}` or `--theirs`, and run again",
}
#: How git begins the line of a conflict.
CONFLICT = b"<<<<<<< "


def repair_dvc_files() -> None:
    """Remove those of DVC's files that are cut short; do nothing while another DVC is at work here.

    Raises:
        InputError: a file holds the conflicts of a merge.
    """
    refuse_conflicts()
    from dvc.lock import LockError, make_lock

    if not TEMPORARY.is_dir():
        return
    files = {Path(LOCK): _lock_file, TEMPORARY / "rwlock": _json}
    try:
        with make_lock(str(TEMPORARY / "lock"), tmp_dir=str(TEMPORARY)):
            for path, read in files.items():
                if path.is_file() and not _readable(path, read):
                    path.unlink()
                    say(f"{path}: removed, a DVC that was killed had written only a part of it")
    except LockError:
        return


def refuse_conflicts() -> None:
    """Find the marks that git leaves where two sides changed the same lines; every file stays as it is.

    Raises:
        InputError: the first line that has one.
    """
    for path, remedy in MERGED.items():
        lines = path.read_bytes().splitlines() if path.is_file() else []
        for number, line in enumerate(lines, start=1):
            if line.startswith(CONFLICT):
                raise InputError(f"{path}:{number}", "a merge has left conflicts here", remedy)


def _readable(path: Path, read: Callable[[Path], object]) -> bool:
    from dvc.exceptions import DvcException
    from voluptuous import Invalid

    try:
        read(path)
    except (ValueError, DvcException, Invalid):
        return False
    return True


def _lock_file(path: Path) -> None:
    """Read dvc.lock as DVC does."""
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from dvc.utils.serialize import load_yaml

    COMPILED_LOCKFILE_SCHEMA(load_yaml(str(path)))


def _json(path: Path) -> None:
    json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(repair_dvc_files)
