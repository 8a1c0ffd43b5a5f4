"""What a killed DVC may leave unreadable: it writes dvc.lock, and its list of who uses which file, in place.

    python -m pipeline.mend

`make repro` does it first. What dvc.lock said of the stages that were done is in DVC's cache of runs too: without it
the next `dvc repro` takes their outputs from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pipeline.progress import say
from pipeline.run import main

LOCK, TEMPORARY = "dvc.lock", Path(".dvc/tmp")


def mend() -> None:
    """Remove those of DVC's files that are cut short; do nothing while another DVC is at work here."""
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
    main(mend)
