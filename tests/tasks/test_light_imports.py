"""Evaluation stages start fast: their modules load no torch, Lightning, pandas, scipy or scikit-learn."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys

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


def test_importing_every_module_loads_nothing_heavy() -> None:
    modules = [
        found.name
        for package in (quartet.statistics, quartet.tasks, quartet.nbest)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not found.ispkg
    ]
    assert len(modules) >= 15
    program = f"import {', '.join(modules)}, sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.stdout.split(), run.stderr, run.returncode) == ([], "", 0)
