"""The examples of docs/mlflow.md do what the page says, on a small model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.settings import read_params
from pipeline.tracking.mlflow import DATABASE
from pipeline.tracking.runs import tell
from quartet.results import EvaluatedSystem, Measure, write_results
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.imports import ROOT
from tests.pipeline.tracking.test_models import train

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
BLOCKS = re.findall(
    r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / "mlflow.md").read_text(), re.MULTILINE | re.DOTALL
)
PYTHON = [text for language, text in BLOCKS if language == "python"]
SHELL = next(text for language, text in BLOCKS if "mlflow models predict" in text)


@pytest.fixture
def finished(workspace: Path, monkeypatch: pytest.MonkeyPatch, small_corpus: Small) -> Path:
    """A folder with mlflow.db as `make repro` leaves it, but for the model's size."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{workspace / DATABASE}")
    params = read_params()
    train(params, small_corpus[0])
    rows = EvaluatedSystem("tta", "cpu", "s", seed=1, reading="context").rows(
        {"pearson": Measure(0.125, 50)},
        experiment=params.experiment,
        table="sts",
        dataset="lee",
        split="test",
    )
    write_results(Layout(params.experiment).results, rows)
    tell(params, rows)
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    return workspace


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_models_and_results_of_the_page_are_there_and_the_address_of_their_comparison(
    finished: Path,
) -> None:
    scoring, searching = PYTHON
    first, second = said(sys.executable, "-c", f"{scoring}\nprint('---')\n{searching}").split("---")
    lines = first.splitlines()
    assert lines[0].split() == ["score", "tokens"]
    assert len(lines) == 3 and float(lines[1].split()[1]) < 0
    assert "0.125" in second
    assert '"score": -' in said("bash", "-c", SHELL)
    line, told = said(sys.executable, "-m", "pipeline.ui", "5001").splitlines()
    assert re.fullmatch(
        r"the models of tiny side by side: "
        r"http://127\.0\.0\.1:5001/#/experiments/\d+/runs\?workflowType=machine_learning&viewStateShareKey=models-[0-9a-f]{8}",
        line,
    )
    assert re.fullmatch(r"their filter: tags\.states LIKE '%[0-9a-f]{8}%'", told)
