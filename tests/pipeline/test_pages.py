"""The pages of a committed report are those that its results and facts make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.pages import pages_again
from quartet.errors import InputError
from tests.imports import ROOT

PAGES = ("README.md", "index.html", "tables.html")


@pytest.mark.parametrize("name", ["small-positions", "sample"])
def test_a_report_is_made_again_as_it_was(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The smallest, and the one whose pages its run has written."""
    committed, folder = ROOT / "reports" / name, tmp_path / name
    shutil.copytree(committed, folder)
    for place in (folder, folder / "times"):
        for page in PAGES:
            (place / page).unlink()
    pages_again(str(folder))
    assert name in capsys.readouterr().out
    for page in PAGES:
        assert (folder / page).read_bytes() == (committed / page).read_bytes(), (
            f"python -m pipeline.pages reports/*: {page} is of another renderer"
        )
    assert (folder / "times" / "README.md").read_bytes() == (committed / "times" / "README.md").read_bytes()
    drawn, before = (place / "times" / "index.html" for place in (folder, committed))
    assert drawn.read_text().count("<svg") == before.read_text().count("<svg"), "pictures of times alone"


def test_a_folder_that_is_no_report_is_refused_and_left(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"facts\.json"):
        pages_again(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
