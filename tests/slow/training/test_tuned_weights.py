"""What is kept of a tuning goes by the code that made it: an edit of any module that decides it starts anew."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.imports import ROOT

#: What is edited -> old text, new text, and whose names change. `LanguageModel.batch` makes the batches of a tuning,
#: the tokenizer the ids of GLUE's texts.
EDITS = {
    "scoring/language_model.py": ("def batch", "def unused() -> None: ...\n\n    def batch", {"nli", "glue"}),
    "text/tokenizer.py": ("def save", "def unused(self) -> None: ...\n\n    def save", {"nli", "glue"}),
    "statistics/correlation.py": ('"""', '"""Reworded: ', set()),
}
#: Prints the names of a tuning on entailment and of one on GLUE: as the code is, and after each edit on its own.
NAMES = """
import json, pathlib, sys, types
import quartet
from quartet import code
from quartet.config.finetuning import GlueProtocol
from quartet.training.glue_search import fingerprint as glue
from quartet.training.tuned_weights import tuning_name
model = types.SimpleNamespace(fingerprint="m")
examples = types.SimpleNamespace(format="rte", train=[], others={})

def names():
    for function in vars(code).values():  # what is remembered of the modules before
        getattr(function, "cache_clear", lambda: None)()
    nli = tuning_name("quartet.training.siamese", {}, [], "m", 1)
    return {"nli": nli, "glue": glue(model, examples, GlueProtocol(seeds=(1,)))}

found = {"": names()}
for name, old, new in json.loads(sys.argv[1]):
    path = pathlib.Path(quartet.__file__).parent / name
    text = path.read_text()
    path.write_text(text.replace(old, new, 1))
    found[name] = names()
    path.write_text(text)
print(json.dumps(found))
"""


def test_the_code_that_decides_a_tuning_is_known_whole(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name, (old, _, _) in EDITS.items():
        assert old in (tmp_path / "src" / "quartet" / name).read_text(encoding="utf-8"), name
    edits = json.dumps([(name, old, new) for name, (old, new, _) in EDITS.items()])
    done = subprocess.run(
        [sys.executable, "-c", NAMES, edits],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    for name, (_, _, changed) in EDITS.items():
        assert {key for key in found[name] if found[name][key] != found[""][key]} == changed, name
