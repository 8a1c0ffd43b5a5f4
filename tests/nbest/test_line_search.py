"""The exact search for the weight: cases by hand, other units, and every weight that there is as judge."""

from __future__ import annotations

import itertools
import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quartet.nbest.line_search import LineSearch, Plateau, envelopes
from quartet.nbest.metrics import Bleu, CountTable, Metric, WordErrorRate
from quartet.nbest.rerank import Candidates, weight_grid
from quartet.nbest.types import NBest
from tests.nbest.lists import nbest, random_lists


def search_of(subject: Candidates) -> LineSearch:
    return LineSearch(subject.first_pass, subject.lm, subject.table)


#: First passes that are means a token beside sums of a language model.
MEANS = Candidates(
    [
        nbest("u", "right", ("wrong", -0.20), ("right", -0.21)),
        nbest("v", "right", ("right", -0.20), ("wrong", -0.40)),
    ],
    [np.array([-60.0, -58.0]), np.array([-65.0, -60.0])],
)


def scaled(subject: Candidates, first_pass: float, lm: float) -> Candidates:
    """The same lists with both scores in other units."""
    lists = [
        nbest(
            one.utterance,
            one.reference,
            *(
                (each.text, first_pass * score)
                for each, score in zip(one.hypotheses, one.first_pass, strict=True)
            ),
        )
        for one in subject.lists
    ]
    return Candidates(lists, list(np.split(lm * subject.lm, subject.table.offsets[1:-1])))


def test_means_beside_sums_find_the_weight_that_a_grid_steps_over() -> None:
    """lambda from 0.01 / 2 to 0.2 / 5: the weights from 0.005 to 0.038, of which a grid of 0.05 has none."""
    assert MEANS.best(weight_grid(0, 1, 0.05)).value == 50.0
    assert MEANS.select(0.01).value == 0.0
    best = MEANS.best()
    assert best.value == 0.0
    assert best.weight / (1 - best.weight) == pytest.approx(np.sqrt(0.005 * 0.04))
    assert best.weight in best.curve.weights


@pytest.mark.parametrize("first_pass", [1e-9, 0.01, 1.0, 100.0, 1e9])
@pytest.mark.parametrize("lm", [0.01, 1.0, 100.0])
def test_the_units_of_the_scores_change_no_choice(first_pass: float, lm: float) -> None:
    lists = random_lists(60, seed=3)
    generator = random.Random(4)
    subject = Candidates(lists, [np.array([-generator.random() for _ in one.hypotheses]) for one in lists])
    for each in (subject, MEANS):
        other = scaled(each, first_pass, lm)
        chosen = each.select(each.best().weight)
        assert other.select(other.best().weight).chosen.tolist() == chosen.chosen.tolist()
        assert other.best().value == chosen.value < each.first_pass_selection.value


def test_nothing_better_than_the_first_pass_is_weight_0() -> None:
    worse = Candidates([nbest("u", "a", ("a", -1.0), ("b", -2.0))], [np.array([-2.0, -1.0])])
    alike = Candidates([nbest("u", "c", ("a", -1.0), ("b", -2.0))], [np.array([-2.0, -1.0])])
    single = Candidates([nbest("u", "a", ("a", -1.0))], [np.zeros(1)])
    for subject in (worse, alike, single):
        assert subject.best().weight == 0.0
        assert np.isfinite(subject.best().curve.values).all()


def test_of_equal_ranges_it_is_the_widest_and_then_the_nearest_to_the_first_pass() -> None:
    """Corners at lambda 1, 2, 8 and 16: right from 1 to 2 and from 8 to 16, and once more from 64 to 1024."""

    def subject(corners: list[float]) -> Candidates:
        texts = ["wrong", "right"] * (len(corners) // 2 + 1)
        first = np.cumsum([0.0, *(-corner for corner in corners)])  # a slope of 1 more at each corner
        one = nbest("u", "right", *zip(texts[: len(first)], first.tolist(), strict=True))
        return Candidates([one], [np.arange(len(first), dtype=np.float64)])

    def found(corners: list[float]) -> float:
        weight = subject(corners).best().weight
        return float(weight / (1 - weight))

    assert found([1, 2, 8, 16]) == pytest.approx(np.sqrt(2.0))
    assert found([1, 2, 8, 16, 64, 1024]) == pytest.approx(256.0)
    assert found([1, 2, 8]) == pytest.approx(16.0), (
        "a range without an end is taken to end at four times its start"
    )


def test_neighbours_of_one_value_are_one_range() -> None:
    """Between the two right ones the text changes and the errors do not."""
    one = nbest("u", "a b", ("x", 0.0), ("a c", -1.0), ("d b", -5.0), ("x y", -21.0))
    subject = Candidates([one], [np.array([0.0, 1.0, 2.0, 3.0])])
    weight = subject.best().weight
    assert weight / (1 - weight) == pytest.approx(4.0), "from 1 to 16, though it changes at 4"


def test_ties_of_the_first_pass_are_broken_by_the_language_model_above_weight_0() -> None:
    subject = Candidates([nbest("u", "b", ("a", -1.0), ("b", -1.0))], [np.array([-2.0, -1.0])])
    assert (subject.select(0.0).value, subject.best().value, subject.best().weight) == (100.0, 0.0, 0.5)


def test_the_envelope_of_each_list() -> None:
    """By hand: the second line is never highest, the third and fourth cross the first at once, equal lines are one."""
    first_pass = np.array([0.0, -3.0, -2.0, -4.0, 0.0, 0.0, 0.0])
    lm = np.array([0.0, 1.0, 1.0, 2.0, 1.0, 1.0, 0.0])
    start, lambdas, before, after = envelopes(first_pass, lm, np.array([0, 4, 7]))
    assert start.tolist() == [0, 4]
    assert (lambdas.tolist(), before.tolist(), after.tolist()) == ([2.0], [0], [3])


def test_lists_without_a_reference_change_nothing() -> None:
    blind = nbest("w", None, ("a", 0.0), ("b", -1e-3))
    subject = Candidates([*MEANS.lists, blind], [*np.split(MEANS.lm, [2]), np.array([0.0, 1.0])])
    assert subject.best().weight == MEANS.best().weight


def test_a_range_that_no_weight_reaches_is_none() -> None:
    assert Plateau(1.0, 4.0).usable
    assert not Plateau(1.0, np.nextafter(1.0, 2.0)).usable
    assert not Plateau(1e20, 1e21).usable, "its weight would be 1"


def whole(values: st.SearchStrategy[int], size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(values, min_size=size, max_size=size)


@st.composite
def lists_and_scores(draw: st.DrawFn) -> tuple[list[NBest], list[np.ndarray]]:
    """A few lists whose scores are whole numbers, so that many lines cross in one point, and many are equal."""
    lists, lm = [], []
    for number in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 5))
        texts = draw(st.lists(st.text("abc ", max_size=7), min_size=size, max_size=size))
        first = sorted(draw(whole(st.integers(-12, 0), size)), reverse=True)
        reference = draw(st.sampled_from(["a b c", "a", "", "b b a c c", None])) if number else "a b c a"
        lists.append(nbest(f"u{number}", reference, *zip(texts, map(float, first), strict=True)))
        lm.append(np.array(draw(whole(st.integers(-12, 0), size)), dtype=np.float64))
    return lists, lm


@settings(max_examples=300, deadline=None)
@given(made=lists_and_scores(), metric=st.sampled_from([WordErrorRate(), Bleu(tokenize="none")]))
def test_no_weight_is_better(made: tuple[list[NBest], list[np.ndarray]], metric: Metric) -> None:
    """Between, on and beyond all points where any two hypotheses of a list have equal scores, and at both ends."""
    lists, lm = made
    subject = Candidates(lists, lm, CountTable.of(lists, metric))
    crossings = {
        (one.first_pass[i] - one.first_pass[j]) / (scores[j] - scores[i])
        for one, scores in zip(lists, lm, strict=True)
        for i, j in itertools.permutations(range(len(scores)), 2)
        if scores[j] > scores[i] and one.first_pass[i] > one.first_pass[j]
    }
    corners = [0.0, *sorted(crossings), 1e6]
    lambdas = [*corners, *((low + high) / 2 for low, high in itertools.pairwise(corners))]
    judged = [subject.select(each / (1 + each)).value for each in lambdas] + [subject.select(1.0).value]
    best = max(metric.better * value for value in judged)
    found = subject.best()
    assert metric.better * found.value == best
    if metric.better * subject.first_pass_selection.value == best:
        assert found.weight == 0.0
    assert subject.select(found.weight).value == found.value


def test_a_study_takes_no_time() -> None:
    generator = np.random.default_rng(5)
    lists, lm = [], []
    for number in range(200):
        first = -np.sort(generator.exponential(3.0, 50))
        texts = [" ".join(generator.choice(list("abcdefgh"), 12)) for _ in first]
        lists.append(nbest(f"u{number}", " ".join("abcdefghabcd"), *zip(texts, first.tolist(), strict=True)))
        lm.append(-generator.exponential(20.0, 50))
    subject = Candidates(lists, lm)
    before = time.process_time()
    weight = search_of(subject).weight
    assert time.process_time() - before < 1.0
    grid = weight_grid(0, 1, 0.001)
    assert subject.select(weight).value <= subject.curve(grid).values.min()
