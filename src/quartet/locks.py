"""A lock on a file or folder that is being written: whoever cannot have it knows that it is in use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: How the names of the files end that stand for locks where the system cannot lock a file that is also replaced.
LOCK: Final = ".held"


@contextmanager
def hold_lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a file or folder; whether it could be had. The lock of a process that ends is free.

    Where there is no ``fcntl``, the lock is a file beside it, of the package `filelock`, which knows each system's way.

    Raises:
        OSError: there is no such file.
    """
    if fcntl is None:
        with _held_beside(path) as had:
            yield had
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        yield _locked(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # someone else has it, or a file system without locks
        return False
    return True


@contextmanager
def _held_beside(path: Path) -> Iterator[bool]:
    import filelock

    lock = filelock.FileLock(f"{path}{LOCK}")
    try:
        lock.acquire(blocking=False)
    except (filelock.Timeout, OSError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
