"""What baselines answer, by what they were trained on, and the rows that they leave."""

from __future__ import annotations

import jiwer
import pytest

from quartet.nbest.metrics import CountTable, WordErrorRate
from quartet.nbest.normalise import Normalisation
from quartet.results import Result
from quartet.tasks.baselines import (
    BAG_OF_WORDS,
    CLASSIFIERS,
    MAJORITY,
    SQUAD_METRICS,
    first_pass_and_oracle,
    glue_baselines,
    glue_predictions,
    labels_by_words,
    letters,
    majority_labels,
    nli_baselines,
    nli_labels,
    no_answers,
    race_baselines,
    random_spans,
    squad_baselines,
)
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import cross_validate
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import TASKS
from quartet.tasks.nli.data import NliPair
from quartet.tasks.nli.metrics import NliSets
from quartet.tasks.questions import QuestionSet
from quartet.tasks.rerank.metrics import JudgedSplit
from quartet.tasks.squad.metrics import squad_measures
from tests.nbest.lists import random_lists
from tests.tasks.classification.test_metrics import EXAMPLES, LABELS
from tests.tasks.glue.test_evaluation import examples
from tests.tasks.glue.test_metrics import example
from tests.tasks.race.test_metrics import question as choice_question
from tests.tasks.squad.test_metrics import question as span_question

SPLITS = {"dev": random_lists(60, 20), "test": random_lists(60, 21)}


def new_run(seed: int = 1, samples: int = 50) -> Evaluation:
    return Evaluation("made-up", "none", samples=samples, seed=seed)


def test_labelled_texts() -> None:
    assert list(CLASSIFIERS) == ["majority", "bag-of-words"]
    assert majority_labels(EXAMPLES, ["x", "y"]) == ["neg", "neg"]
    assert majority_labels(EXAMPLES[:2], ["x"]) == ["neg"]  # a tie
    assert cross_validate(EXAMPLES, labels_by_words, 5, seed=1) == LABELS
    shuffled = [
        LabelledText(text.text, label) for text, label in zip(EXAMPLES, LABELS[1:] + LABELS[:1], strict=True)
    ]
    assert cross_validate(shuffled, labels_by_words, 5, seed=1) != [example.label for example in shuffled]


def test_the_majority_of_glue() -> None:
    train = [example("a", None, label) for label in ("1", "0", "0", "1", "1")]
    assert glue_predictions(MAJORITY, TASKS["cola"], train, train[:2]).tolist() == [1, 1]
    tied = glue_predictions(MAJORITY, TASKS["cola"], train[:2], train[:2])
    assert tied.tolist() == [0, 0], "of equal ones the first"
    scored = [example("a", "b", None, score) for score in (1.0, 4.0)]
    assert glue_predictions(MAJORITY, TASKS["stsb"], scored, scored[:1]).tolist() == [2.5]


def test_a_bag_of_words_tells_what_both_texts_have_from_what_one_has() -> None:
    pairs = [("red", "red", "1"), ("red", "blue", "0"), ("blue", "blue", "1"), ("blue", "red", "0")] * 5
    train = [example(*pair) for pair in pairs]
    assert glue_predictions(BAG_OF_WORDS, TASKS["mrpc"], train, train[:4]).tolist() == [1, 0, 1, 0]
    scored = [example("good", "good", None, 5.0), example("bad", "good", None, 0.0)] * 5
    high, low = glue_predictions(BAG_OF_WORDS, TASKS["stsb"], scored, scored[:2])
    assert high > 4 > 1 > low
    single = [example("good", None, "1"), example("bad", None, "0")] * 5
    assert glue_predictions(BAG_OF_WORDS, TASKS["sst2"], single, single[:2]).tolist() == [1, 0]


def test_a_bag_of_words_of_one_label_gives_that_label() -> None:
    """Of a few examples, as a small limit leaves them, all may have the same."""
    train = [example("a", "b", "0"), example("c", "d", "0")]
    tested = [example("a", "d", "1"), example("x", "y", "0")]
    for name in (MAJORITY, BAG_OF_WORDS):
        assert glue_predictions(name, TASKS["mrpc"], train, tested).tolist() == [0.0, 0.0]


def test_rows_of_glue() -> None:
    run = new_run()
    glue_baselines(run, "mrpc", examples())
    rows = run.rows
    assert {(row.system, row.metric) for row in rows} == {
        (system, metric) for system in ("majority", "bag-of-words") for metric in ("accuracy", "f1")
    }
    assert {(row.table, row.dataset, row.split) for row in rows} == {("glue", "mrpc", "dev")}
    (row,) = [row for row in rows if (row.system, row.metric) == ("majority", "f1")]
    assert row.value == pytest.approx(2 / 3)
    assert (row.seed, row.scale) == (None, "6 examples")


def test_labels_of_entailment_come_from_the_training_pairs_alone() -> None:
    train = [NliPair("it rains", "no no", "contradiction")] * 3 + [
        NliPair("it rains", "yes", "entailment")
    ] * 2
    tested = [NliPair("the sun", "yes yes", "entailment"), NliPair("the sun", "no", "neutral")]
    assert nli_labels("majority", train, tested) == ["contradiction"] * 2
    assert nli_labels("bag-of-words", train, tested) == ["entailment", "contradiction"]


def test_rows_of_entailment_are_of_what_the_training_pairs_teach() -> None:
    labels = (("contradiction", 3), ("entailment", 1))
    train = [NliPair("it rains", "no", label) for label, count in labels for _ in range(count)]
    judged = [NliPair("it rains", "no", label) for label, count in labels for _ in range(4 - count)]
    run = new_run()
    nli_baselines(run, NliSets(train, [("snli", "dev", judged)], "4 pairs"))
    assert {(row.system, row.value) for row in run.rows} == {("majority", 0.25), ("bag-of-words", 0.25)}


def test_choices_without_the_passage() -> None:
    train = [choice_question("high1", number, number % 2) for number in range(5)]
    assert letters(MAJORITY, train, train) == [0] * 5
    telling = [
        choice_question(
            "high2", number, answer, tuple("yes" if place == answer else f"no {place}" for place in range(4))
        )
        for number, answer in enumerate([3, 1, 0, 2, 2, 1, 0, 3])
    ]
    assert letters(BAG_OF_WORDS, telling[:6], telling[6:]) == [0, 3]


def test_rows_of_choices_are_of_what_the_training_questions_teach() -> None:
    train, judged = ([choice_question("high1", number, answer) for number in range(4)] for answer in (0, 1))
    run = new_run()
    race_baselines(run, [QuestionSet("race", "race", train, {"dev": judged}, "")])
    assert {(row.system, row.split, row.value) for row in run.rows} == {
        ("majority", "dev", 0.0), ("bag-of-words", "dev", 0.0),
    }  # fmt: skip


def test_answers_that_read_nothing() -> None:
    questions = [
        span_question("1", "cat", context="the cat sat on the mat"),
        span_question("2", context="a dog ran away"),
    ]
    spans = random_spans(questions, seed=1)
    assert spans == random_spans(questions, seed=1)
    for one, asked in zip(spans, questions, strict=True):
        assert one.text(0.0), "it always answers"
        assert one.best in asked.context
    measures = squad_measures(questions, no_answers(questions), 20, 1)
    assert (measures["em-hasans"].value, measures["noans"].value, measures["f1"].value) == (0.0, 1.0, 0.5)


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_are_of_spans_drawn_with_the_seed_and_have_no_threshold(seed: int) -> None:
    context = "the cat sat on the mat and saw a dog that ran away from two grey herons"
    words = [word for word in context.split() if len(word) > 3]
    questions = [span_question(word, word, context=context) for word in words] + [
        span_question("none", context=context)
    ]
    run = new_run(seed)
    squad_baselines(run, [QuestionSet("own", "squad2", [], {"dev": questions}, "")], 4)
    found = {row.metric: row.value for row in run.rows if row.system == "random-span"}
    expected = squad_measures(questions, random_spans(questions, seed, 4), 50, seed)
    assert found == {metric: expected[metric].value for metric in SQUAD_METRICS}
    assert {row.system for row in run.rows} == {"random-span", "no-answer"}


def rows_of_lists(seed: int) -> dict[tuple[str, str, str], Result]:
    """By table, system and split."""
    plain = Normalisation(False, False)
    splits = {
        name: JudgedSplit(lists, CountTable.of(lists, WordErrorRate()), lists, plain)
        for name, lists in SPLITS.items()
    }
    run = new_run(seed, samples=200)
    first_pass_and_oracle(run, "lists", splits, [3])
    return {(row.table, row.system, row.split): row for row in run.rows}


def test_the_first_pass_takes_the_highest_score_and_the_oracle_the_fewest_errors() -> None:
    found = rows_of_lists(1)
    assert {key[1:] for key in found if key[0] == "rerank"} == {
        (system, split) for system in ("first-pass", "oracle") for split in SPLITS
    }
    for split, lists in SPLITS.items():
        known = [one for one in lists if one.reference]
        references = [one.reference or "" for one in known]
        best = [max(one.hypotheses, key=lambda each: each.score or 0).text for one in known]
        inserted = sum(
            len(max(one.hypotheses, key=lambda each: each.score or 0).text.split())
            for one in lists
            if one.reference == ""
        )
        words = sum(len(text.split()) for text in references)
        errors = jiwer.wer(references, best) * words + inserted
        assert found["rerank", "first-pass", split].value == pytest.approx(100 * errors / words)
        assert found["rerank", "oracle", split].value < found["rerank", "first-pass", split].value
    assert {row.seed for row in found.values()} == {None}


def test_by_length_there_is_test_alone() -> None:
    found = {key[1:]: row for key, row in rows_of_lists(1).items() if key[0] == "rerank-length"}
    assert {split for _, split in found} == {"0-3", "4-"}
    for system in ("first-pass", "oracle"):
        parts = [found[system, split] for split in ("0-3", "4-")]
        assert sum(row.n for row in parts) == rows_of_lists(1)["rerank", system, "test"].n


def test_intervals_of_lists_are_resampled_with_the_seed_of_the_run() -> None:
    one, again, other = rows_of_lists(1), rows_of_lists(1), rows_of_lists(2)
    assert one == again
    for table in ("rerank", "rerank-length"):
        assert {key for key in one if key[0] == table and one[key].ci_low != other[key].ci_low}, table
    assert {key: row.value for key, row in one.items()} == {key: row.value for key, row in other.items()}
