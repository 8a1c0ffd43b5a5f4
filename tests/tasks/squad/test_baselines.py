"""Answers of baselines that read nothing."""

from __future__ import annotations

from quartet.tasks.squad.baselines import no_answers, random_spans
from quartet.tasks.squad.metrics import squad_measures
from tests.tasks.squad.test_metrics import question


def test_baselines_that_read_nothing() -> None:
    questions = [
        question("1", "cat", context="the cat sat on the mat"),
        question("2", context="a dog ran away"),
    ]
    spans = random_spans(questions, seed=1)
    assert spans == random_spans(questions, seed=1)
    for one, asked in zip(spans, questions, strict=True):
        assert one.best
        assert one.best in asked.context
    measures = squad_measures(questions, no_answers(questions), 20, 1)
    assert (measures["em-hasans"].value, measures["noans"].value, measures["f1"].value) == (0.0, 1.0, 0.5)
