"""Results as the entries of tables: the seeds of one figure together, and a note of what was shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from quartet.report.numbers import Number, p_value
from quartet.results import Result


class FigureKey(NamedTuple):
    """What a figure is of, the seed apart."""

    table: str
    dataset: str
    split: str
    system: str
    metric: str


#: The lower and the upper end of an interval.
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Cell:
    """The results of one place, one a seed.

    Raises:
        ValueError: two of them have the same seed.
    """

    rows: tuple[Result, ...]

    def __post_init__(self) -> None:
        seeds = [row.seed for row in self.rows]
        if len(set(seeds)) != len(seeds):
            raise ValueError(f"two results for {self.rows[0].key}")

    @property
    def value(self) -> float:
        """The mean over the seeds."""
        return fmean(row.value for row in self.rows)

    @property
    def difference(self) -> bool:
        """Whether it is a difference of two systems."""
        return self.rows[0].metric.endswith("-difference")

    @property
    def n(self) -> int:
        """The number of items behind a seed's value; the least where the seeds differ."""
        return min(row.n for row in self.rows)

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds; None of a single one."""
        return stdev(row.value for row in self.rows) if len(self.rows) > 1 else None

    @property
    def bounds(self) -> Bounds | None:
        """The interval; of several seeds, from the lowest end to the highest. None where a seed has none."""
        lows = [row.ci_low for row in self.rows if row.ci_low is not None]
        highs = [row.ci_high for row in self.rows if row.ci_high is not None]
        if len(lows) < len(self.rows) or len(highs) < len(self.rows):
            return None
        return min(lows), max(highs)

    @property
    def p(self) -> float | None:
        """The p of a difference; of several seeds the largest. None where a seed has none."""
        known = [row.p for row in self.rows if row.p is not None]
        return max(known) if len(known) == len(self.rows) else None

    def text(self, number: Number, bounds: bool = True) -> str:
        """The value, ± its spread over the seeds, and, if asked for, [its bounds] and its p."""
        parts = [number(self.value)]
        if self.spread:  # equal seeds (a size) have none to tell
            parts.append(f"± {number(self.spread).lstrip('+')}")
        if bounds and self.bounds is not None:
            parts.append(interval(self.bounds, number))
        if bounds and self.p is not None:
            parts.append(f"p {p_value(self.p)}")
        return " ".join(parts)


def interval(bounds: Bounds, number: Number) -> str:
    """The interval in square brackets."""
    return f"[{number(bounds[0])}, {number(bounds[1])}]"


class Cells:
    """All results of a run by place.

    `take` gives a cell to a table and notes it, `find` only looks; what no table took is in `rest`.
    """

    def __init__(self, results: Iterable[Result]) -> None:
        rows: defaultdict[FigureKey, list[Result]] = defaultdict(list)
        for row in results:
            rows[FigureKey(row.table, row.dataset, row.split, row.system, row.metric)].append(row)
        self._cells = {
            place: Cell(tuple(sorted(rows[place], key=lambda row: row.key))) for place in sorted(rows)
        }
        self._taken: set[FigureKey] = set()
        self._names: dict[str, tuple[str, str, str]] = {}
        for cell in self._cells.values():
            row = cell.rows[0]
            self._names[row.system] = (row.model, row.reading, row.versus)

    def name(self, system: str) -> tuple[str, str, str]:
        """The model, the reading and the other system of a shown name; a system without results is its own model."""
        return self._names.get(system, (system, "", ""))

    def tables(self) -> list[str]:
        """The tables that have a result, by name."""
        return sorted({place.table for place in self._cells})

    def places(self, table: str) -> list[FigureKey]:
        """The places of a table, sorted."""
        return [place for place in self._cells if place.table == table]

    def find(self, place: FigureKey) -> Cell | None:
        """The cell at a place, if there is one."""
        return self._cells.get(place)

    def take(self, place: FigureKey) -> Cell | None:
        """The cell at a place, if there is one, noted as shown."""
        cell = self._cells.get(place)
        if cell is not None:
            self._taken.add(place)
        return cell

    def rest(self, table: str) -> list[FigureKey]:
        """The places of a table that nothing has taken."""
        return [place for place in self.places(table) if place not in self._taken]
