"""Without the project's environment each command of the pages says in one line which one it needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.imports import ROOT


@pytest.mark.parametrize(
    "module",
    ["pipeline.plan", "stages.settings", "benchmarks.throughput", "docs.quoted.blocks", "tests.edit_matrix"],
)
def test_another_python_is_told_what_to_run(module: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    without_packages = (sys.executable, "-S")
    done = subprocess.run(
        [*without_packages, "-m", module],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "source .venv/bin/activate" in done.stderr
