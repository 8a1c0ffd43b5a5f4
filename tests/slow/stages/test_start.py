"""Stages start fast: importing a stage's script loads no package that only other stages need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pipeline import dvc_yaml
from pipeline.stages import STAGES as KNOWN
from tests.imports import ROOT
from tests.test_layering import TRAINING, WITHOUT_TORCH

STAGES = frozenset(path.stem for path in (ROOT / "stages").glob("[!_]*.py"))
#: Slow to import, and not for models: 0.3 to 5 s each.
HEAVY = (
    "pytorch_lightning",
    "transformers",
    "torchmetrics",
    "pandas",
    "scipy",
    "sklearn",
    "gensim",
    "sacrebleu",
)

#: What a rule is for -> its stages, and the packages that none of their scripts imports.
RULES = {
    "no stage opens MLflow before it runs": (STAGES, ("mlflow",)),
    "what trains nothing needs no trainer and no tables": (STAGES - TRAINING, (*HEAVY, "mlflow")),
    "what has no model needs no torch": (WITHOUT_TORCH, ("torch", *HEAVY)),
    "pictures are the report's": (STAGES - TRAINING - {"report"}, ("matplotlib",)),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_stage_imports_nothing_heavy(rule: str) -> None:
    """All scripts of a rule in one process: the names of what is loaded then."""
    stages, packages = RULES[rule]
    modules = ", ".join(f"stages.{name}" for name in sorted(stages))
    program = f"import {modules}, sys; print(*[name for name in {packages!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.stdout.split(), run.stderr, run.returncode) == ([], "", 0)


def test_what_is_known_of_stages_is_known_of_those_of_dvc_yaml() -> None:
    assert [name for name in dvc_yaml.definitions() if name in KNOWN] == list(KNOWN)
    assert {name.replace("-", "_") for name in KNOWN} <= STAGES


@pytest.mark.skipif(sys.platform != "linux", reason="its threads are counted as Linux shows them")
def test_the_process_that_forks_has_no_thread_and_nothing_of_the_project() -> None:
    program = (
        "import os, sys\nfrom pipeline.warm_start import PRELOADED, preload\npreload(PRELOADED)\n"
        "own = [name for name in sys.modules if name.split('.')[0] in ('quartet', 'stages', 'pipeline')]\n"
        "print(len(os.listdir('/proc/self/task')), *own)"
    )
    free = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    environment = {**free, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.stdout.split(), run.returncode) == (["1", "pipeline", "pipeline.warm_start"], 0), run.stderr
