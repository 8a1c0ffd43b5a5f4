"""Files as the last commit has them: a run of one's own may have changed those in the working tree, and may."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.imports import ROOT


def committed(path: str, folder: Path) -> Path:
    """A copy, below `folder`, of a file as committed; skips the test outside a git checkout."""
    shown = subprocess.run(["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True, check=False)
    if shown.returncode:
        inside = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False)
        if inside.returncode:
            pytest.skip("not a git checkout: there is no committed version to read")
        pytest.fail(f"{path} is not committed: {shown.stderr.decode()}")
    copy = folder / Path(path).name
    copy.write_bytes(shown.stdout)
    return copy
