"""The tables of docs/intervals.md: the smallest number of units follows from them, and parts of them are redone."""

from __future__ import annotations

import math
import re

import pytest

from quartet.statistics.intervals import LEAST_UNITS
from tests.interval_coverage import (
    BEGIN,
    CASES,
    END,
    PAGE,
    SEEDS,
    TRIALS,
    UNITS,
    Case,
    coverage,
    documents,
    pairs,
    seeds,
    utterances,
)

#: Percent that an interval must hold at least, where one is given.
HOLDS = 90
#: Sets of a part that is redone, and by how many standard errors its percentage may differ from the page's.
AGAIN, ERRORS = 400, 3.0


def page() -> list[dict[str, list[str]]]:
    """The cells of each table by row, without its heads."""
    block = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    tables = [table.splitlines()[2:] for table in block.strip().split("\n\n")]
    rows = [[[cell.strip() for cell in line.strip("|").split("|")] for line in table] for table in tables]
    return [{name: cells for name, *cells in table} for table in rows]


def percent(cell: str) -> int | None:
    """What held of those given; None where none were."""
    found = re.match(r"\d+", cell)
    return int(found[0]) if found else None


def agrees(cell: str, held: int, given: int) -> bool:
    """Whether a redone percentage is the page's but for chance."""
    said = percent(cell)
    assert said is not None
    share = min(0.99, said / 100)
    error = math.sqrt(share * (1 - share) * (1 / given + 1 / TRIALS)) + 0.005  # the page has whole percents
    return abs(held / given - said / 100) <= ERRORS * error


def test_the_smallest_number_of_units_follows_from_the_table() -> None:
    expanded = page()[0]
    columns = [[percent(row[place]) for row in expanded.values()] for place in range(len(UNITS))]
    least = [min(one for one in column if one is not None) for column in columns]
    assert UNITS[[value >= HOLDS for value in least].index(True)] == LEAST_UNITS


@pytest.mark.parametrize("usual", [False, True])
@pytest.mark.parametrize("draw", [utterances, pairs])
def test_the_page_has_what_the_program_finds(draw: object, usual: bool) -> None:
    (case,) = [one for one in CASES if one.draw is draw]
    small = Case(case.draw, 20_000, 10)
    place = UNITS.index(LEAST_UNITS)
    for name, count in coverage(small, LEAST_UNITS, AGAIN, usual=usual).items():
        cell = page()[usual][name][place]
        assert agrees(cell, count.held, count.given), (name, cell, count)


def test_documents_as_the_page_has_them() -> None:
    small = Case(documents, 400, 10)
    for name, count in coverage(small, LEAST_UNITS, 100).items():
        assert agrees(page()[0][name][UNITS.index(LEAST_UNITS)], count.held, count.given), (name, count)


def test_seeds_as_the_page_has_them() -> None:
    (cells,) = [cells for name, cells in page()[2].items() if "3 standard errors" in name]
    count = seeds(SEEDS[0], 3.0, AGAIN)
    assert agrees(cells[0], count.held, count.given)
