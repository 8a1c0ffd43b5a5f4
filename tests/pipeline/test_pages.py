"""The pages of a committed report are those that its results and facts make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.pages import pages_again
from quartet.errors import InputError
from tests.imports import ROOT

PAGES = ("README.md", "index.html", "tables.html")


def test_a_report_is_made_again_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the smallest."""
    committed, folder = ROOT / "reports" / "small-positions", tmp_path / "small-positions"
    shutil.copytree(committed, folder)
    for place in (folder, folder / "times"):
        for name in PAGES:
            (place / name).unlink()
    pages_again(str(folder))
    assert "small-positions" in capsys.readouterr().out
    for name in PAGES:
        assert (folder / name).read_bytes() == (committed / name).read_bytes(), (
            f"python -m pipeline.pages reports/*: {name} is of another renderer"
        )
    assert (folder / "times" / "README.md").read_bytes() == (committed / "times" / "README.md").read_bytes()
    assert (folder / "times" / "index.html").is_file()


def test_a_folder_that_is_no_report_is_refused_and_left(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"facts\.json"):
        pages_again(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
