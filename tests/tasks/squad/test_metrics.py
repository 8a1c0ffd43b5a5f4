"""SQuAD's figures against the official formulas, written out here, and against thresholds tried one by one."""

from __future__ import annotations

import json
import math
import random
import re
import string
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from quartet.tasks.squad.data import Answer, SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction, squad_measures, text_scores, write_predictions


def question(name: str, *answers: str, context: str = "") -> SpanQuestion:
    context = context or " ".join(answers) or "nothing"
    return SpanQuestion(name, "", context, "?", tuple(Answer(one, context.index(one)) for one in answers))


def prediction(name: str, text: str, odds: float = 0.0) -> SpanPrediction:
    return SpanPrediction(name, ((text, 0.0),), odds)


@pytest.mark.parametrize(
    ("said", "gold", "em", "f1"),
    [
        ("The  Cat!", ["a cat"], 1, 1),  # articles, punctuation, case and white space are nothing
        ("U.S.", ["us"], 1, 1),
        ("the theatre", ["theatre"], 1, 1),
        ("theatre an", ["the theatre"], 1, 1),
        ("grey cat", ["a grey cat sat"], 0, 0.8),  # 2 of 2, 2 of 3
        ("cat cat", ["cat"], 0, 2 / 3),
        ("dog", ["cat", "the dog", "hound"], 1, 1),  # the best of several
        ("twenty-one", ["twenty one"], 0, 0),  # punctuation goes, and leaves no blank
        ("", ["cat"], 0, 0),
        ("the", ["cat"], 0, 0),
        ("", [], 1, 1),  # no answer, and none is given
        ("a", [], 1, 1),
        ("cat", [], 0, 0),
        ("", ["the", "cat"], 0, 0),  # a gold answer that normalises to nothing does not count
        ("", ["the"], 1, 1),  # unless there is no other
    ],
)
def test_hand_made_cases(said: str, gold: list[str], em: float, f1: float) -> None:
    assert text_scores(said, gold, version_2=True) == pytest.approx((em, f1), abs=1e-6)


def test_version_1_matches_a_gold_answer_that_normalises_to_nothing() -> None:
    assert text_scores("A", ["the", "the cat"], version_2=False) == (1, 0)
    assert text_scores("A", ["the", "the cat"], version_2=True) == (0, 0)
    questions = [question("1", "the", "the cat")]
    assert squad_measures(questions, [prediction("1", "A")], samples=20, seed=1)["em"].value == 1


def official(said: str, gold: list[str], version_2: bool) -> tuple[float, float]:
    """The formulas of the official scripts."""

    def words(text: str) -> list[str]:
        text = "".join(sign for sign in text.lower() if sign not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    def f1(one: list[str], other: list[str]) -> float:
        if not one or not other:
            return float(version_2 and one == other)
        same = sum((Counter(one) & Counter(other)).values())
        return 2 * same / (len(one) + len(other))

    kept = [words(text) for text in gold if words(text) or not version_2] or [[]]
    return max(float(words(said) == one) for one in kept), max(f1(words(said), one) for one in kept)


@pytest.mark.parametrize("version_2", [True, False])
def test_random_texts_score_as_the_official_formulas_say(version_2: bool) -> None:
    draw = random.Random(1)
    pieces = ["the", "a", "cat", "Cat", "dog.", "-", "an ", "1,000", "über", ""]
    for _ in range(150):
        said = " ".join(draw.choices(pieces, k=draw.randint(0, 4)))
        gold = [
            " ".join(draw.choices(pieces, k=draw.randint(1, 4)))
            for _ in range(draw.randint(not version_2, 3))
        ]
        expected = official(said, gold, version_2)
        assert text_scores(said, gold, version_2) == pytest.approx(expected, abs=1e-6), (said, gold)


def test_version_1_has_two_figures_over_paragraphs() -> None:
    questions = [
        question("1", "cat", context="a cat sat"),
        question("2", "sat", context="a cat sat"),
        question("3", "dog"),
    ]
    said = [prediction("1", "cat"), prediction("2", "cat sat", odds=9.0), prediction("3", "bird")]
    measures = squad_measures(questions, said, samples=200, seed=1)
    assert set(measures) == {"em", "f1"}, "odds of no answer mean nothing where every question has one"
    assert measures["em"].value == pytest.approx(1 / 3)
    assert measures["f1"].value == pytest.approx((1 + 2 / 3) / 3)
    assert measures["em"].n == 3
    # of two paragraphs none; of twelve, where the questions of one come and go together, over paragraphs
    assert measures["em"].ci_low is None
    both = [
        (
            replace(one, context=f"{one.context} {copy}", id=f"{one.id}{copy}"),
            replace(two, id=f"{two.id}{copy}"),
        )
        for copy in range(6)
        for one, two in zip(questions, said, strict=True)
    ]
    em = squad_measures([one for one, _ in both], [two for _, two in both], samples=4000, seed=1)["em"]
    assert em.value == pytest.approx(1 / 3)
    # k of the twelve drawn have two questions, one of them right: k / (12 + k); the tail of 12 is 1.1 %
    assert (em.ci_low, em.ci_high) == pytest.approx((2 / 14, 10 / 22))
    with pytest.raises(ValueError, match="not of these questions"):
        squad_measures(questions, said[::-1], 10, 1)


def test_version_2_is_that_of_every_threshold_tried() -> None:
    draw = random.Random(2)
    questions, said = [], []
    for number in range(60):
        answers = ["cat", "grey cat"] if draw.random() < 0.5 else []
        questions.append(question(str(number), *answers, context=f"cat grey cat {number // 3}"))
        said.append(
            prediction(
                str(number),
                draw.choice(["cat", "grey cat", "cat dog"]),
                draw.choice([-2.0, -0.5, 0.0, 0.5, 3.0]),
            )
        )
    measures = squad_measures(questions, said, samples=50, seed=1)

    def at(threshold: float, of: list[bool]) -> np.ndarray:
        pairs = [
            text_scores(one.text(threshold), [answer.text for answer in asked.answers], version_2=True)
            for asked, one, kept in zip(questions, said, of, strict=True)
            if kept
        ]
        mean: np.ndarray = np.mean(pairs, axis=0)
        return mean

    every, has = [True] * 60, [bool(one.answers) for one in questions]
    assert (measures["em"].value, measures["f1"].value) == pytest.approx(tuple(at(0.0, every)))
    assert (measures["em-hasans"].value, measures["f1-hasans"].value) == pytest.approx(tuple(at(0.0, has)))
    assert measures["noans"].value == pytest.approx(at(0.0, [not one for one in has])[0])
    assert (measures["noans"].n, measures["em-hasans"].n) == (60 - sum(has), sum(has))
    tried = {threshold: at(threshold, every) for threshold in (-3.0, -2.0, -0.5, 0.0, 0.5, 3.0)}
    for place, metric in enumerate(("em", "f1")):
        best = max(values[place] for values in tried.values())
        assert measures[f"{metric}-best"].value == pytest.approx(best)
        threshold = measures[f"{metric}-threshold"].value
        assert tried[threshold][place] == pytest.approx(best)
        assert measures[f"{metric}-best"].value >= measures[metric].value


def test_a_threshold_can_separate_what_zero_cannot() -> None:
    questions = [question("1", "cat"), question("2", context="dog"), question("3", "bird")]
    said = [prediction("1", "cat", 2.0), prediction("2", "dog", 5.0), prediction("3", "bird", 3.0)]
    measures = squad_measures(questions, said, samples=20, seed=1)
    assert measures["em"].value == pytest.approx(1 / 3), "at zero nothing is answered"
    assert measures["em-best"].value == 1.0
    assert measures["em-threshold"].value == 3.0


def test_files_have_the_official_form(tmp_path: Path) -> None:
    said = [SpanPrediction("1", (("cat", 3.5), ("the cat", 1.0)), -1.0), prediction("2", "dog", 800.0)]
    files = write_predictions(tmp_path, "squad2.dev", said, version_2=True)
    texts, ranked, odds = (json.loads(path.read_text()) for path in files)
    assert texts == {"1": "cat", "2": ""}
    assert ranked["1"] == [{"text": "cat", "score": 3.5}, {"text": "the cat", "score": 1.0}]
    assert odds["1"] == pytest.approx(1 / (1 + math.e))
    assert odds["2"] == 1.0
    even = [prediction("3", "cat", odds) for odds in (0.0, 0.5)]
    said_at = [
        json.loads(write_predictions(tmp_path, "even", [one], version_2=True)[0].read_text()) for one in even
    ]
    assert said_at == [{"3": "cat"}, {"3": ""}], "at threshold 0"
    (path, _) = write_predictions(tmp_path, "squad1.dev", said, version_2=False)
    assert json.loads(path.read_text()) == {"1": "cat", "2": "dog"}, "version 1.1 always answers"
