"""What is kept of a tuning goes by the code that made it: an edit of any module that decides it starts anew."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.imports import ROOT

UNUSED = "def unused() -> None: ...\n\n\n"
EVERY = {"nli", "glue", "squad", "race"}
#: What is edited -> old text, new text, and whose names change. `LanguageModel.batch` makes the batches of a tuning,
#: the tokenizer the ids of GLUE's texts. Of a task's own modules those count that tune; GLUE's search trains, too.
EDITS = {
    "scoring/language_model.py": ("def batch", "def unused() -> None: ...\n\n    def batch", EVERY),
    "text/tokenizer.py": ("def save", "def unused(self) -> None: ...\n\n    def save", EVERY),
    "training/tuning.py": ("def tune(", f"{UNUSED}def tune(", EVERY),
    "tasks/glue/tuning.py": ("def fine_tune", f"{UNUSED}def fine_tune", {"glue"}),
    "tasks/glue/search.py": ("def search", f"{UNUSED}def search", {"glue"}),
    "tasks/nli/tuning.py": ("def embed(model", f"{UNUSED}def embed(model", {"nli"}),
    "tasks/squad/tuning.py": ("def answer(", f"{UNUSED}def answer(", {"squad"}),
    "tasks/race/tuning.py": ("def choose(", f"{UNUSED}def choose(", {"race"}),
    "tasks/squad/metrics.py": ("def squad_measures", f"{UNUSED}def squad_measures", set()),
    "tasks/glue/metrics.py": ("def glue_measures", f"{UNUSED}def glue_measures", set()),
    "tasks/nli/evaluation.py": ("def evaluate", f"{UNUSED}def evaluate", set()),
    "tasks/race/data.py": ("@dataclass", f"{UNUSED}@dataclass", set()),
    "statistics/correlation.py": ("def correlations", f"{UNUSED}def correlations", set()),
}
#: Prints the names of a tuning for each task: as the code is, and after each edit on its own.
NAMES = """
import json, pathlib, sys, types
import quartet
from quartet import code
from quartet.tasks.glue.search import fingerprint as glue
from quartet.training.tuned_weights import tuning_name
model = types.SimpleNamespace(fingerprint="m")
examples = types.SimpleNamespace(format="rte", train=[], others={})

def names():
    for function in vars(code).values():  # what is remembered of the modules before
        getattr(function, "cache_clear", lambda: None)()
    weights = {
        task: tuning_name(f"quartet.tasks.{task}.tuning", [], "m", 1) for task in ("nli", "squad", "race")
    }
    return {**weights, "glue": glue(model, examples)}

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
