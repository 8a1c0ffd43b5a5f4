"""What is kept of a tuning goes by the code that made it: an edit of any module that decides it starts anew."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import ROOT

#: Prints the names of a tuning on entailment and of one on GLUE.
NAMES = """
import json, types
from quartet.config.finetuning import GlueProtocol
from quartet.training.glue_search import fingerprint as glue
from quartet.training.tuned_weights import tuning_name
model = types.SimpleNamespace(fingerprint="m")
examples = types.SimpleNamespace(format="rte", train=[], others={})
nli = tuning_name("quartet.training.siamese", {}, [], "m", 1)
print(json.dumps({"nli": nli, "glue": glue(model, examples, GlueProtocol(seeds=(1,)))}))
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, to be edited."""
    folder = tmp_path_factory.mktemp("code")
    for name in ("src",):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def names(folder: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)])}
    done = subprocess.run(
        [sys.executable, "-c", NAMES],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def test_the_code_that_decides_a_tuning_is_known_whole(copied: Path) -> None:
    """`LanguageModel.batch` makes the batches of a tuning; the tokenizer makes the ids of GLUE's texts."""
    before = names(copied)
    edits = {
        "scoring/language_model.py": (
            "def batch",
            "def unused() -> None: ...\n\n    def batch",
            {"nli", "glue"},
        ),
        "text/tokenizer.py": ("def save", "def unused(self) -> None: ...\n\n    def save", {"nli", "glue"}),
        "statistics/correlation.py": ('"""', '"""Reworded: ', set()),
    }
    for name, (old, new, changed) in edits.items():
        path = copied / "src" / "quartet" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        after = names(copied)
        assert {key for key in after if after[key] != before[key]} == changed, name
        path.write_text(text, encoding="utf-8")
