"""The published sets that lie beside a developer's checkout: tests that read them skip where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = "QUARTET_SHARED_DATA"


def shared(path: str) -> Path:
    """A file or folder below the folder that the environment variable QUARTET_SHARED_DATA names, or a skipped test."""
    folder = os.environ.get(FOLDER)
    if not folder:
        pytest.skip(f"{FOLDER} names no folder of published sets")
    found = Path(folder) / path
    if not found.exists():
        pytest.skip(f"{found} is not there")
    return found
