"""Files that change under a stage that reads them end it: what is stored was made from what DVC notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.unchanged import Inputs
from quartet.errors import InputError
from quartet.nbest import formats
from stages import nbest as stage
from tests.imports import ROOT

CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda folder: (folder / "a.txt").write_text("other text"),
    "as long, at once": lambda folder: (
        (folder / "new").write_text("b") and (folder / "new").rename(folder / "a.txt")
    ),
    "added": lambda folder: (folder / "deep" / "c.txt").write_text("c"),
    "removed": lambda folder: (folder / "deep" / "b.txt").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_below_a_folder_is_named(tmp_path: Path, change: Callable[[Path], object]) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "deep" / "b.txt").write_text("b")
    inputs = Inputs([tmp_path])
    (tmp_path / "a.txt").read_text()
    inputs.check()
    change(tmp_path)
    with pytest.raises(InputError, match=r"txt: changed while the stage read it"):
        inputs.check()


def test_lists_that_change_while_they_are_read_are_not_taken(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old ones stay as they are, and the next run takes the new ones."""
    source = ROOT / "data" / "nbest" / "sample-speech"
    folder = workspace / "data" / "nbest" / "sample-speech"
    folder.mkdir(parents=True)
    for split in ("dev", "test"):
        lists = json.loads((source / f"{split}.json").read_text())
        (folder / f"{split}.json").write_text(json.dumps(dict(list(lists.items())[:5])))
    stage.nbest("sample-speech")
    made = Layout("tiny").nbest("sample-speech")
    old = {path.name: path.read_bytes() for path in made.iterdir()}
    text = (folder / "dev.json").read_text()

    def slow(*arguments: object) -> object:
        found = formats.read(*arguments)  # type: ignore[arg-type]
        lists = json.loads(text)
        (folder / "dev.json").write_text(json.dumps(dict(list(lists.items())[:4])))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(stage, "read", slow)
        with pytest.raises(InputError, match=r"dev\.json: changed while the stage read it"):
            stage.nbest("sample-speech")
    assert {path.name: path.read_bytes() for path in made.iterdir()} == old
    stage.nbest("sample-speech")
    assert json.loads((made / "manifest.json").read_text())["dev"]["lists"] == 4
