"""A small disk of a test's own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reliability.disks import SIZE, Disk, mount


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A tmpfs of 4 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount to make a small disk with")
    try:
        mount("-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a small disk cannot be mounted: {error.stderr.strip()}")
    yield Disk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)
