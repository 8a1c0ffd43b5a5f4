"""Evaluation stages start fast: only what opens models loads torch, and only what tunes them Lightning."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys

import pytest

import quartet.nbest
import quartet.statistics
import quartet.tasks

HEAVY = (
    "torch",
    "pytorch_lightning",
    "pandas",
    "scipy",
    "sklearn",
    "gensim",
    "matplotlib",
    "mlflow",
    "transformers",
)
MODULES = frozenset(
    found.name
    for package in (quartet.statistics, quartet.tasks, quartet.nbest)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.ispkg
)
#: Of quartet.tasks, what opens models, and what tunes them.
OPENS = frozenset(f"quartet.tasks.{name}.evaluation" for name in ("attention", "perplexity", "rerank"))
TUNES = frozenset(
    [f"quartet.tasks.{task}.{name}" for task in ("glue", "nli", "race", "squad") for name in ("evaluation", "tuning")]
    + ["quartet.tasks.classification.evaluation", "quartet.tasks.glue.search"]
)  # fmt: skip


@pytest.mark.parametrize(("modules", "kept"), [(MODULES - OPENS - TUNES, ()), (OPENS, ("torch",))])
def test_importing_every_module_loads_nothing_heavy(modules: frozenset[str], kept: tuple[str, ...]) -> None:
    assert MODULES > OPENS | TUNES
    assert len(MODULES - OPENS - TUNES) >= 30
    names = ", ".join(sorted(modules))
    program = f"import {names}, sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.stdout.split(), run.stderr, run.returncode) == ([*kept], "", 0)
