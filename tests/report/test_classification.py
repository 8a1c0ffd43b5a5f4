"""Classification in the report: every set has its table, whatever the sets are called."""

from __future__ import annotations

import pytest

from quartet.results import Result
from quartet.tasks.baselines import classification_baselines
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.evaluation import Evaluation
from tests.report.rendered import shown

SETS = ("polarity", "questions")


@pytest.fixture
def rows() -> list[Result]:
    """The baselines on two sets of the kind."""
    texts = [LabelledText(text, label) for text, label in [("good", "1"), ("bad", "0")] * 6]
    run = Evaluation("made-up", "none", samples=50, seed=1)
    classification_baselines(run, [(name, texts) for name in SETS], folds=3)
    return run.rows


def test_every_set_has_a_table(rows: list[Result]) -> None:
    text, report = shown(rows, "classification")
    for name in SETS:
        assert f"**`{name}`** cross-validation:" in text
    assert {row.table for row in rows} == {"classification"}
    assert report.rest("classification") == []
