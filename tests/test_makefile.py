"""`make setup` on machines with other Pythons: which one .venv is made with, and what is said where none will do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.imports import ROOT

#: Does all that is asked of it, and leaves a copy of itself as the environment's Python.
FITS = """#!/bin/bash
if [[ $2 == venv ]]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo "$0" > "$3/made-with"; fi
"""
#: Another version, or what stands for a program that is not installed.
UNFIT = "#!/bin/bash\nexit 1\n"
PROGRAMS = ("bash", "cp", "flock", "grep", "mkdir", "touch", "uname")


def setup(folder: Path, pythons: dict[str, str], *arguments: str) -> tuple[int, list[str], str]:
    """(code, error lines, the Python of .venv) of `make setup` where these programs are all that there is."""
    bin_ = folder / "bin"
    bin_.mkdir()
    for name in PROGRAMS:
        (bin_ / name).symlink_to(shutil.which(name) or "")
    for name, script in pythons.items():
        (bin_ / name).write_text(script)
        (bin_ / name).chmod(0o755)
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copyfile(ROOT / name, folder / name)
    make = shutil.which("make")
    if make is None:
        pytest.skip("there is no make")
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON")  # the tests may be run by make themselves
    environment = {key: value for key, value in os.environ.items() if key not in outer}
    done = subprocess.run(
        [make, "setup", *arguments],
        cwd=folder,
        env={**environment, "PATH": str(bin_)},
        capture_output=True,
        text=True,
        check=False,
    )
    made = folder / ".venv" / "made-with"
    errors = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    return done.returncode, errors, Path(made.read_text().strip()).name if made.exists() else ""


@pytest.mark.parametrize(
    ("pythons", "wanted"),
    [
        ({"python3.11": FITS, "python3.12": FITS}, "python3.11"),
        ({"python3.11": UNFIT, "python3.12": FITS, "python3.13": FITS}, "python3.12"),
        ({"python3.13": FITS, "python3": FITS}, "python3.13"),
        ({"python3": FITS}, "python3"),
    ],
)
def test_the_first_python_that_fits_is_taken(pythons: dict[str, str], wanted: str, tmp_path: Path) -> None:
    assert setup(tmp_path, pythons) == (0, [], wanted)
    assert (tmp_path / ".venv" / ".installed").exists()


@pytest.mark.parametrize(
    ("pythons", "arguments", "said"),
    [
        ({"python3.11": UNFIT, "python3": UNFIT}, [], "there is no Python 3.11"),
        ({"python3.11": FITS, "mine": UNFIT}, ["PYTHON=mine"], "mine is no Python 3.11"),
        ({"python3.11": FITS}, ["PYTHON=nowhere"], "nowhere is no Python 3.11"),
    ],
)
def test_where_none_fits_one_line_says_it(
    pythons: dict[str, str], arguments: list[str], said: str, tmp_path: Path
) -> None:
    code, errors, made = setup(tmp_path, pythons, *arguments)
    assert (code, made, len(errors)) == (2, "", 1)
    assert said in errors[0] and "PYTHON=" in errors[0]
