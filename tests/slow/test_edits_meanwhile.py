"""Edits while DVC runs stages that really work: what is stored as done was made from what is recorded."""

from __future__ import annotations

import copy
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.stages import EVALUATIONS
from quartet.config.loading import read_yaml
from tests import quick_dvc
from tests.edit_matrix import SCRIPT, note_outs, ran, replace_scripts
from tests.imports import ROOT
from tests.settings import AS_JSON, change_settings
from tests.tiny import Clone

#: What the preset tiny is without: the n-gram model stays, which starts and trains in a second.
WITHOUT: dict[str, Any] = {
    **{f"evaluate.{stage}": [] for stage in EVALUATIONS},
    **{section: {} for section in ("nbest", "tasks")},
    **{key: [] for key in ("nli.sets", "runtime.models")},
    "perplexity.input_lengths": [8],
}
#: At the start of the work of the stage `segment`: it waits while it is told to.
WAIT = """
        import pathlib, time

        while pathlib.Path("artifacts/hold").exists():
            pathlib.Path("artifacts/waiting").touch()
            time.sleep(0.05)
"""
#: Stages that really work: up to the model and its perplexity. All others only write something.
REAL = ("settings", "download", "segment", "tokenizer", "ngram")
EDITED = "it, or a module that it imports, was edited while DVC ran; run the same command again"
SEGMENT, TOKENIZER, NGRAM = "segment@wikipedia-sample", "tokenizer@wordpiece-1k", "ngram@ngram-3"


class Lean(Clone):
    """The lean preset, run once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        models = read_yaml(folder / "params.yaml")["models"]
        self.set(**WITHOUT, models={"tta": models["tta"]})
        replace_scripts(folder, SCRIPT, REAL)
        note_outs(folder)
        self.add("stages/segment.py", WAIT, behind='"segment", name):')
        assert {SEGMENT, TOKENIZER, NGRAM, "report"} <= self.repro()

    def set(self, **keys: Any) -> None:
        """Give keys of params.yaml other values."""
        path = self.folder / "params.yaml"
        change_settings(path, keys)
        path.write_text(
            path.read_text().removeprefix(AS_JSON)
        )  # DVC keeps the comment, and writes YAML below it

    def add(self, name: str, text: str, behind: str | None = None) -> None:
        """Put a text at the end of a file, or behind another."""
        path = self.folder / name
        old = path.read_text(encoding="utf-8")
        assert behind is None or behind in old
        path.write_text(
            old + text if behind is None else old.replace(behind, behind + text, 1), encoding="utf-8"
        )

    def copied(self, folder: Path) -> Lean:
        """The same in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True)
        other = copy.copy(self)
        other.folder = folder
        return other

    def meanwhile(self, edit: Callable[[], object], *command: str) -> tuple[int, str]:
        """Run a command of DVC, and edit something as soon as `segment` is at work; its code, and what it says."""
        hold, waiting = (self.folder / "artifacts" / name for name in ("hold", "waiting"))
        hold.touch()
        process = quick_dvc.Running(quick_dvc.run, *command, folder=self.folder, environment=self.environment)
        while not waiting.exists():
            assert process.poll() is None, process.said()
            time.sleep(0.05)
        try:
            edit()
        finally:
            hold.unlink()
        said = process.said()
        waiting.unlink()
        code = process.poll()
        assert code is not None
        return code, said

    @property
    def rows(self) -> bytes:
        """The perplexity of the model."""
        return (self.folder / "artifacts/tiny/rows/ngram/ngram-3.jsonl").read_bytes()

    @property
    def lock(self) -> Any:
        """What DVC has noted of each stage."""
        return read_yaml(self.folder / "dvc.lock")["stages"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Lean:
    folder = tmp_path_factory.mktemp("lean") / "lean"
    folder.mkdir()
    return Lean(folder)


@pytest.fixture
def lean(done: Lean, tmp_path: Path) -> Lean:
    """A copy in which `segment` and what hangs on it is to run."""
    lean = done.copied(tmp_path / "lean")
    lean.set(**{"corpora.wikipedia-sample.limit": 18})
    return lean


def test_an_edit_of_what_a_later_stage_imports_ends_that_stage(lean: Lean) -> None:
    before, script = lean.lock, lean.folder / "stages" / "ngram.py"
    code = script.read_text()
    limit = "params.perplexity.tokens_per_document"
    assert limit in code
    status, said = lean.meanwhile(lambda: script.write_text(code.replace(limit, f"{limit} // 4")), "repro")
    assert status and f"error: ngram: stages/ngram.py: {EDITED}" in said
    assert lean.lock[SEGMENT] != before[SEGMENT] and TOKENIZER in ran(said)
    assert lean.lock[NGRAM] == before[NGRAM]
    assert {"code", NGRAM, "report"} <= lean.repro()
    rows = lean.rows
    script.write_text(code)
    assert NGRAM in lean.repro(), "nothing is kept of it under the name of the code before"
    assert lean.rows != rows
    assert lean.dvc("status").strip() == quick_dvc.UP_TO_DATE


def test_what_a_running_stage_has_made_is_kept_and_other_edits_end_nothing(lean: Lean) -> None:
    """Others: a docstring of what runs, code that no later stage imports, and settings: the next run sees them."""
    before, module = lean.lock, lean.folder / "src/quartet/text/split.py"
    code = module.read_bytes()
    _, said = lean.meanwhile(lambda: lean.add("src/quartet/text/split.py", "\nEDITED = True\n"), "repro")
    assert "segment: its code was edited while it ran" in said
    kept = lean.lock[SEGMENT]
    assert kept != before[SEGMENT]
    module.write_bytes(code)
    assert SEGMENT not in lean.repro(), "it is the work of the code before"
    assert lean.lock[SEGMENT] == kept
    lean.set(**{"corpora.wikipedia-sample.limit": 17})

    def edit() -> None:
        lean.add("src/quartet/text/split.py", '"""The end."""\n')
        lean.add("src/quartet/cli/rescore.py", "\nEDITED = True\n")
        lean.set(bootstrap=50)

    status, said = lean.meanwhile(edit, "repro")
    assert not status and {SEGMENT, TOKENIZER, NGRAM, "report"} <= ran(said)
    assert "code" not in ran(said), "the edit was taken back"
    noted = lean.lock[NGRAM]["params"]["artifacts/settings.json"]
    assert noted["bootstrap"] == 100
    after = lean.repro()
    assert {"code", "settings", NGRAM} <= after and not {SEGMENT, TOKENIZER} & after
    assert lean.dvc("status").strip() == quick_dvc.UP_TO_DATE


def test_an_experiment_is_recorded_with_its_own_settings(lean: Lean) -> None:
    """`dvc exp run` records params.yaml as it is when the last stage has run: an edit before that ends it."""
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "test"),
        ("config", "user.email", "test@localhost"),
    ):
        subprocess.run(["git", *arguments], cwd=lean.folder, check=True)
    shutil.copyfile(ROOT / ".gitignore", lean.folder / ".gitignore")
    lean.dvc("config", "--unset", "core.no_scm")
    subprocess.run("git add -A && git commit -qm all", shell=True, cwd=lean.folder, check=True)
    command = ("exp", "run", "-n", "bigrams", "-S", "ngrams.ngram-3.order=2")
    path = lean.folder / "params.yaml"

    def edit() -> None:
        text = path.read_text()
        assert "bootstrap: 100" in text, "DVC has written the file anew"
        path.write_text(text.replace("bootstrap: 100", "bootstrap: 50"))

    status, said = lean.meanwhile(edit, *command)
    assert status and "params.yaml: edited while `dvc exp run` ran; run the experiment again" in said
    assert "bigrams" not in lean.dvc("exp", "list")
    lean.dvc(*command)
    assert "bigrams" in lean.dvc("exp", "list")
    noted = lean.lock[NGRAM]["params"]["artifacts/settings.json"]
    params = read_yaml(lean.folder / "params.yaml")
    assert (noted["bootstrap"], params["bootstrap"]) == (50, 50)
    assert (noted["ngrams.ngram-3"]["order"], params["ngrams"]["ngram-3"]["order"]) == (2, 2)
