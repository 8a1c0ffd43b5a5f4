"""Two language models together: the mixture, the choice on dev, and where it falls back to one of them."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.errors import InputError
from quartet.nbest.combine import combine
from quartet.nbest.rerank import Candidates, tune_and_apply, weight_grid
from tests.nbest.lists import nbest, random_lists
from tests.nbest.test_rerank import toy_scores

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
