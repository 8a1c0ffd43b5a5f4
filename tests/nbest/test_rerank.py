"""Reranking: the ends of the weight, ties, the grid, the oracle, and a plain loop over jiwer as judge."""

from __future__ import annotations

import random

import jiwer
import numpy as np
import pytest

from quartet.errors import InputError
from quartet.nbest.metrics import CountTable, WordErrorRate
from quartet.nbest.rerank import Candidates, WeightCurve, by_length, combine, tune_and_apply, weight_grid
from quartet.nbest.types import NBest
from tests.nbest.lists import nbest, random_lists


def candidates(count: int, seed: int) -> Candidates:
    """Random lists with a random language model whose score depends on the text alone."""
    lists = random_lists(count, seed)
    return Candidates(lists, [toy_scores(one) for one in lists])


def toy_scores(one: NBest) -> np.ndarray:
    return np.array([-random.Random(hypothesis.text).random() * 9 for hypothesis in one.hypotheses])


def test_weight_0_keeps_the_first_pass_and_weight_1_is_the_language_model_alone() -> None:
    subject = candidates(200, seed=5)
    assert np.array_equal(subject.scores(0.0), subject.first_pass)
    assert np.array_equal(subject.scores(1.0), subject.lm)
    assert subject.select(0.0).chosen.tolist() == [0] * 200
    expected = [int(np.argmax(toy_scores(one))) for one in subject.lists]
    assert subject.select(1.0).chosen.tolist() == expected


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.55, 1.0])
def test_the_choice_and_its_wer_are_those_of_a_plain_loop_with_jiwer(weight: float) -> None:
    subject = candidates(200, seed=6)
    references, texts, chosen = [], [], []
    for one in subject.lists:
        scores = [
            (1 - weight) * first + weight * lm
            for first, lm in zip(one.first_pass, toy_scores(one), strict=True)
        ]
        best = max(range(len(scores)), key=lambda index: (scores[index], -index))
        chosen.append(best)
        if one.reference is not None:
            references.append(one.reference)
            texts.append(one.hypotheses[best].text)
    found = subject.select(weight)
    assert found.chosen.tolist() == chosen
    assert found.value == 100 * jiwer.wer(references, texts)
    assert found.without_reference == 200 - len(references) > 0


def test_shuffled_hypotheses_change_nothing() -> None:
    subject = candidates(100, seed=7)
    generator = random.Random(0)
    shuffled = []
    for one in subject.lists:
        hypotheses = list(one.hypotheses)
        generator.shuffle(hypotheses)
        shuffled.append(NBest(one.utterance, tuple(hypotheses), one.reference))
    other = Candidates(shuffled, [toy_scores(one) for one in shuffled])
    grid = weight_grid(0, 1, 0.1)
    assert np.array_equal(subject.curve(grid).values, other.curve(grid).values)


def test_ties_keep_the_hypothesis_that_the_first_pass_ranks_higher() -> None:
    lists = [nbest("u", "b", ("a", -1.0), ("b", -2.0), ("c", -4.0))]
    subject = Candidates(lists, [np.array([-2.0, -1.0, 1.0])])
    assert subject.scores(0.5).tolist() == [-1.5, -1.5, -1.5]
    assert subject.select(0.5).chosen.tolist() == [0]
    assert [order.tolist() for order in subject.ranking(0.5)] == [[0, 1, 2]]
    assert [order.tolist() for order in subject.ranking(1.0)] == [[2, 1, 0]]


def test_a_long_list_of_ties_keeps_its_order() -> None:
    one = nbest("u", None, *[(str(rank), -1.0) for rank in range(200)])
    scores = np.repeat([-2.0, -1.0], 100)
    (order,) = Candidates([one], [scores]).ranking(1.0)
    assert order.tolist() == [*range(100, 200), *range(100)]


def test_the_oracle_takes_the_fewest_errors_and_the_higher_rank_of_equal_ones() -> None:
    lists = [
        nbest("u", "a b c", ("x y z", -1.0), ("a b x", -2.0), ("x b c", -3.0)),
        nbest("v", None, ("p", -1.0), ("q", -2.0)),
        nbest("w", "", ("p", -1.0), ("", -2.0)),
    ]
    oracle = Candidates(lists, [np.zeros(3), np.zeros(2), np.zeros(2)]).oracle
    assert oracle.chosen.tolist() == [1, 0, 1]
    assert oracle.counts.tolist() == [[1, 3], [0, 0]]
    assert oracle.without_reference == 1


def test_the_oracle_bounds_every_weight() -> None:
    subject = candidates(100, seed=8)
    assert (subject.curve(weight_grid(0, 1, 0.05)).values >= subject.oracle.value).all()


def test_the_grid_has_both_ends_and_clean_numbers() -> None:
    grid = weight_grid(0, 1, 0.05)
    assert len(grid) == 21
    assert grid.tolist() == [round(0.05 * index, 2) for index in range(21)]
    assert weight_grid(0.2, 0.2, 0.1).tolist() == [0.2]
    assert weight_grid(0, 0.3, 0.1).tolist() == [0.0, 0.1, 0.2, 0.3]  # 0.3 / 0.1 is a little less than 3
    assert weight_grid(0, 1, 0.3).tolist() == [0.0, 0.3, 0.6, 0.9, 1.0]
    assert weight_grid(0.1, 0.5, 0.7).tolist() == [0.1, 0.5]
    assert weight_grid(0, 1, 1 / 3).tolist()[-1] == 1.0
    assert len(weight_grid(0, 1, 1 / 3)) == 4
    for start, stop, step in [
        (0, 1, 1e-9),
        (0, 1, 0),
        (0, 1.5, 0.1),
        (-0.1, 1, 0.1),
        (0.6, 0.5, 0.1),
        (0, float("nan"), 0.1),
    ]:
        with pytest.raises(InputError, match="rerank weights"):
            weight_grid(start, stop, step)


def test_the_smallest_of_equally_good_weights_is_chosen() -> None:
    weights = weight_grid(0, 1, 0.25)
    values = np.array([0.3, 0.2, 0.1, 0.1, 0.2])
    for sign in (1, -1):
        curve = WeightCurve(weights, -sign * values, sign)
        assert (curve.best_weight, curve.best_value) == (0.5, -sign * 0.1)


def test_the_weight_is_chosen_on_dev_and_applied_to_test() -> None:
    dev = Candidates([nbest("d", "good", ("bad", -1.0), ("good", -2.0))], [np.array([-2.0, -0.5])])
    test = Candidates([nbest("t", "fine", ("fine", -1.0), ("poor", -1.5))], [np.array([-2.0, -0.5])])
    result = tune_and_apply(dev, test, weight_grid(0, 1, 0.1))
    # on dev the scores are equal at 0.4; on test the weight that dev chose is wrong, and is used all the same
    assert result.weight == pytest.approx(0.5)
    assert result.dev.values[4] == 100.0
    assert result.dev.values[5] == 0.0
    assert result.first_pass.value == 0.0
    assert result.reranked.value == 100.0
    assert result.oracle.value == 0.0
    assert len(result.test.values) == 11


def test_nothing_can_be_tuned_without_references_or_across_ranks_and_scores() -> None:
    known = Candidates([nbest("u", "a", ("a", -1.0))], [np.zeros(1)])
    unknown = Candidates([nbest("u", None, ("a", -1.0))], [np.zeros(1)])
    ranked = Candidates([nbest("u", "a", ("a", None))], [np.zeros(1)])
    with pytest.raises(InputError, match="none has a reference"):
        tune_and_apply(unknown, known, [0.0, 1.0])
    with pytest.raises(InputError, match="only ranks"):
        tune_and_apply(ranked, known, [0.0, 1.0])
    assert tune_and_apply(known, unknown, [0.0, 1.0]).reranked.without_reference == 1


def test_one_table_serves_several_models_but_only_its_own_lists() -> None:
    lists = random_lists(20, seed=9)
    table = CountTable.of(lists, WordErrorRate())
    scores = [toy_scores(one) for one in lists]
    assert Candidates(lists, scores, table).select(0.5).value == Candidates(lists, scores).select(0.5).value
    with pytest.raises(ValueError, match="other lists"):
        Candidates(lists[:-1], scores[:-1], table)


def test_scores_must_fit_the_lists_and_be_finite() -> None:
    lists = [nbest("u7", "a", ("a", -1.0), ("b", -2.0))]
    for scores in ([np.zeros(1)], [np.array([0.0, np.nan])], [np.array([-np.inf, 0.0])]):
        with pytest.raises(ValueError, match="u7"):
            Candidates(lists, scores)
    with pytest.raises(ValueError, match="1 lists"):
        Candidates(lists, [])


GRID = weight_grid(0, 1, 0.1)


def pair(count: int, seed: int) -> tuple[Candidates, Candidates]:
    """Two random language models on the same lists."""
    lists = random_lists(count, seed)
    ours = [toy_scores(one) for one in lists]
    return Candidates(lists, ours), Candidates(lists, [-9.0 - each[::-1] for each in ours])


def test_the_mixture_has_both_ends() -> None:
    one, other = pair(40, 1)
    assert np.array_equal(one.mixed(other, 0.0).lm, one.lm)
    assert np.array_equal(one.mixed(other, 1.0).lm, other.lm)
    assert np.allclose(
        one.mixed(other, 0.25).scores(0.4), 0.6 * one.first_pass + 0.3 * one.lm + 0.1 * other.lm
    )
    assert one.mixed(other, 0.25).first_pass_selection.value == one.first_pass_selection.value


def test_the_pair_that_is_best_on_dev_is_used_on_test() -> None:
    dev, test = pair(150, 2), pair(150, 3)
    found = combine(dev, test, GRID, GRID)
    values = {
        (share, weight): dev[0].mixed(dev[1], share).select(weight).value for share in GRID for weight in GRID
    }
    best = min(values.values())
    pairs = [(weight, share) for (share, weight), value in values.items() if value == best]
    assert (found.reranking.weight, found.share) == min(pairs)
    mixed = test[0].mixed(test[1], found.share)
    assert found.reranking.reranked.value == mixed.select(found.reranking.weight).value
    assert np.array_equal(found.test.lm, mixed.lm)
    for alone in dev:
        assert best <= tune_and_apply(alone, alone, GRID).reranked.value


def test_two_halves_of_the_truth_beat_each() -> None:
    lists = [nbest("u", "a", ("x", -1.0), ("a", -1.2)), nbest("v", "b", ("y", -1.0), ("b", -1.2))]
    one = Candidates(lists, [np.array([-2.0, -1.0]), np.array([-1.0, -1.1])])
    other = Candidates(lists, [np.array([-1.0, -1.1]), np.array([-2.0, -1.0])])
    assert tune_and_apply(one, one, GRID).reranked.value == 50.0
    assert tune_and_apply(other, other, GRID).reranked.value == 50.0
    found = combine((one, other), (one, other), GRID, GRID)
    assert found.reranking.reranked.value == 0.0
    assert found.share not in (0.0, 1.0)


def test_models_that_are_equal_or_of_no_use_leave_the_smallest_numbers() -> None:
    one, _ = pair(30, 4)
    assert combine((one, one), (one, one), GRID, GRID).share == 0.0
    single = Candidates([nbest("u", "a", ("a", -1.0))], [np.zeros(1)])
    found = combine((single, single), (single, single), GRID, GRID)
    assert (found.share, found.reranking.weight) == (0.0, 0.0)


def test_other_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="different lists"):
        combine((pair(3, 5)[0], pair(3, 6)[1]), pair(3, 5), GRID, GRID)
    unknown = Candidates([nbest("u", None, ("a", -1.0))], [np.zeros(1)])
    with pytest.raises(InputError, match="none has a reference"):
        combine((unknown, unknown), (unknown, unknown), GRID, GRID)


def test_lists_fall_into_the_range_of_their_reference() -> None:
    lists = [
        nbest("a", "", ("x", -1.0)),
        nbest("b", None, ("x", -1.0)),
        nbest("c", "one two", ("one", -1.0), ("one two", -2.0)),
        nbest("d", "one two three", ("x", -1.0)),
    ]
    subject = Candidates(lists, [np.arange(len(one.hypotheses), dtype=float) for one in lists])
    parts = dict(by_length(subject.select(1.0), lists, [2, 9, 20]))
    assert {name: part.counts.tolist() for name, part in parts.items()} == {
        "0-2": [[1, 0], [0, 2]],
        "3-9": [[3, 3]],
    }
    assert parts["0-2"].chosen.tolist() == [0, 1]
    assert list(dict(by_length(subject.select(1.0), lists, []))) == ["0-"]


def test_the_parts_together_are_the_whole() -> None:
    lists = random_lists(80, seed=11)
    selection = Candidates(lists, [toy_scores(one) for one in lists]).select(0.5)
    parts = [part for _, part in by_length(selection, lists, [1, 3, 6])]
    assert np.array_equal(sum(part.counts.sum(axis=0) for part in parts), selection.counts.sum(axis=0))
    assert sum(len(part.counts) for part in parts) == len(selection.counts)
