"""What `pip install` of a wheel gives somewhere else: the command, the library, and the model that comes with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from tests.imports import ROOT

#: All that a wheel is made of.
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src/quartet", "weights/tta-books")
PROGRAM = """
import quartet
from quartet.shipped_model import shipped_model
print(quartet.__file__, shipped_model(), quartet.load().score(["the old man went down to the river"])[0], sep="\\n")
"""


def ran(*command: str | Path, folder: Path, said: str = "") -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=environment, input=said, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_has_the_command_the_library_and_the_model(tmp_path: Path) -> None:
    source, home = tmp_path / "source", tmp_path / "home"
    for name in SOURCES:
        place = source / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, place)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    ran(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, source, folder=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(home)
    python = home / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    ran(*pip, "--python", python, "install", "-q", "--no-deps", wheel, folder=tmp_path)
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")  # torch and all else

    library, model, score = ran(python, "-c", PROGRAM, folder=tmp_path).splitlines()
    assert Path(library).is_relative_to(packages)
    assert Path(model) == home.resolve() / "share" / "quartet" / "tta-books"
    assert -40 < float(score) < 0
    assert ran(
        home / "bin" / "quartet", "score", folder=tmp_path, said="the old man went down to the river\n"
    ) == (f"{float(score):.6f}\n")
