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
