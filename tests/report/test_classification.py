"""Classification in the report: every set has its table and its finding, whatever the sets are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from quartet.results import Result
from quartet.tasks.classification.data import LabelledText
from stages import baselines
from tests.report.rendered import shown, verdicts

SETS = ("polarity", "questions")


@pytest.fixture
def rows(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> list[Result]:
    """The baselines on two sets of the kind."""
    texts = [LabelledText(text, label) for text, label in [("good", "1"), ("bad", "0")] * 6]
    found = [(name, texts) for name in SETS]

    def sets_of(kind: str, params: Params, layout: Layout) -> list[tuple[str, list[LabelledText]]]:
        return found if kind == "classification" else []

    monkeypatch.setattr(baselines, "sets_of", sets_of)
    params = read_params()
    return baselines.classifiers(params, Layout(params.experiment))


def test_every_set_has_a_table_and_a_finding(rows: list[Result]) -> None:
    text, report = shown(rows, "classification")
    for name in SETS:
        assert f"**`{name}`** cross-validation:" in text
    assert {row.table for row in rows} == {"classification"}
    assert report.rest("classification") == []
    assert verdicts(rows, "classification") == [], "baselines alone are no models"
