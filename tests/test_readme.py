"""The README says what the committed report says, and its models exist; tests/test_docs.py holds its commands."""

from __future__ import annotations

from pipeline.params import load
from pipeline.readme import block, placed
from quartet.results import read_results
from tests.committed import committed, report_rows, timings
from tests.imports import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_results_are_those_of_the_report() -> None:
    readme = committed("README.md").read_text(encoding="utf-8")
    content = block(read_results(report_rows("sample")), read_results(timings("sample")))
    assert placed(readme, content) == readme, "run python -m pipeline.readme"


def test_every_model_of_the_text_exists() -> None:
    models = load(ROOT / "presets" / "sample.yaml").models
    for name in (
        "unilm",
        "bilm",
        "tta",
        "bert-",
        "segabert",
        "tta-segments",
        "transformer-xl",
        "segatron-xl",
    ):
        assert f"`{name}`" in README
        assert name in models
