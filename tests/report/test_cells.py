"""Seeds taken together, and what a table has taken."""

from __future__ import annotations

import pytest

from quartet.report.cells import Cell, Cells, FigureKey
from quartet.report.numbers import fixed
from tests.report.synthetic import row

PLACE = FigureKey("sts", "lee", "test", "tta/context", "pearson")


def test_one_seed_is_shown_with_its_interval() -> None:
    cell = Cell((row(*_key(), 0.5, 1225, 0.1),))
    assert cell.text(fixed(1, 100)) == "50.0 [40.0, 60.0]"
    assert cell.text(fixed(1, 100), bounds=False) == "50.0"
    assert cell.spread is None


def test_several_seeds_are_a_mean_a_spread_and_the_widest_bounds() -> None:
    rows = [row(*_key(), value, 1225, 0.1, seed) for seed, value in enumerate((0.4, 0.5, 0.6))]
    cell = Cell(tuple(rows))
    assert cell.value == pytest.approx(0.5)
    assert cell.text(fixed(1, 100)) == "50.0 ± 10.0 [30.0, 70.0]"


def test_of_seeds_with_other_numbers_of_items_the_least_is_told() -> None:
    assert Cell((row(*_key(), 0.5, 12, 0.1, 1), row(*_key(), 0.5, 8, 0.1, 2))).n == 8


def test_a_seed_without_an_interval_leaves_none() -> None:
    cell = Cell((row(*_key(), 0.5, 10, 0.1, 1), row(*_key(), 0.5, 10, None, 2)))
    assert cell.bounds is None


def test_two_results_of_one_seed_contradict_each_other() -> None:
    with pytest.raises(ValueError, match="two results for"):
        Cells([row(*_key(), 0.5, 10), row(*_key(), 0.6, 10)])


def test_what_is_not_taken_is_left() -> None:
    other = row("sts", "tta/context", "lee", "", "kendall", 0.3, 10)
    cells = Cells([row("wordsim", *_key()[1:], 0.5, 10), row(*_key(), 0.5, 10), other])
    assert cells.tables() == ["sts", "wordsim"]
    assert cells.find(PLACE) is not None
    assert PLACE in cells.rest("sts")  # looking is not taking
    assert cells.take(PLACE) is not None
    assert [place.metric for place in cells.rest("sts")] == ["kendall"]
    assert cells.take(PLACE._replace(metric="none")) is None


def _key() -> tuple[str, str, str, str, str]:
    return PLACE.table, PLACE.system, PLACE.dataset, PLACE.split, PLACE.metric
