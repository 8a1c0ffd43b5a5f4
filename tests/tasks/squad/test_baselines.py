"""Answers of baselines that read nothing."""

from __future__ import annotations

import pytest

from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet
from quartet.tasks.squad.baselines import KEPT, baselines, no_answers, random_spans
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


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_are_of_spans_drawn_with_the_seed_and_have_no_threshold(seed: int) -> None:
    context = "the cat sat on the mat and saw a dog that ran away from two grey herons"
    words = [word for word in context.split() if len(word) > 3]
    questions = [question(word, word, context=context) for word in words] + [
        question("none", context=context)
    ]
    run = Evaluation("made-up", "none", samples=50, seed=seed)
    baselines(run, [QuestionSet("own", "squad2", [], {"dev": questions}, "")], 4)
    found = {row.metric: row.value for row in run.rows if row.system == "random-span"}
    expected = squad_measures(questions, random_spans(questions, seed, 4), 50, seed)
    assert found == {metric: expected[metric].value for metric in KEPT}
    assert {row.system for row in run.rows} == {"random-span", "no-answer"}
