"""Disks that can be filled or made read-only, and a limit that stands for a full one."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = 4 << 20
#: What a test leaves free, so that writing fails in the middle.
LEFT = 8 << 10


class Disk:
    """A file system of its own.

    Attributes:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def full(self, left: int = LEFT) -> Iterator[None]:
        """Fill it but for so many bytes."""
        filler = self.folder / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                file.truncate(file.tell() - left)
        yield
        filler.unlink()

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Let nobody write to it, root included."""
        mount("-o", "remount,ro", str(self.folder))
        yield
        mount("-o", "remount,rw", str(self.folder))


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True, text=True)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let this process write no file beyond so many bytes: what stands for a full disk where none can be mounted."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones included."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "filler"
    }
