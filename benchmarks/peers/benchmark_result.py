"""What a comparison finds: checks that the compared outputs are equal, and figures with what the project demands."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from quartet.errors import InputError


@dataclass(frozen=True)
class DemandedValue:
    """What a figure is to reach."""

    word: Literal["at least", "at most"]
    value: float

    def met(self, value: float) -> bool:
        return value >= self.value if self.word == "at least" else value <= self.value

    def __str__(self) -> str:
        return f"{self.word} {self.value:g}"


def at_least(value: float) -> DemandedValue:
    """So much or more."""
    return DemandedValue("at least", value)


def at_most(value: float) -> DemandedValue:
    """So much or less."""
    return DemandedValue("at most", value)


@dataclass(frozen=True)
class BenchmarkFigure:
    """One ratio, share or exponent.

    Attributes:
        name: what is compared with what, in words.
        median, least, largest: over the rounds; all three are equal for what is counted and not timed.
        unit: ``x`` for a ratio, ``%``, ``exponent``, or another word.
        demand: None: the figure is reported only.
    """

    name: str
    median: float
    least: float
    largest: float
    unit: str = "x"
    demand: DemandedValue | None = None

    @classmethod
    def of(
        cls, name: str, rounds: Sequence[float], demand: DemandedValue | None = None, unit: str = "x"
    ) -> BenchmarkFigure:
        """The figure of values, one a round."""
        return cls(name, statistics.median(rounds), min(rounds), max(rounds), unit, demand)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> BenchmarkFigure:
        """The inverse of what :meth:`BenchmarkResult.to_json` makes of a figure."""
        demand = None if row["demand"] is None else DemandedValue(**row["demand"])
        return cls(row["name"], row["median"], row["least"], row["largest"], row["unit"], demand)

    @property
    def met(self) -> bool | None:
        """Whether the median is what is demanded; None: nothing is."""
        return None if self.demand is None else self.demand.met(self.median)


@dataclass(frozen=True)
class EqualityCheck:
    """How far two outputs are apart that should be equal, and how far they may be."""

    what: str
    difference: float
    tolerance: float


def equal(what: str, left: ArrayLike, right: ArrayLike, tolerance: float) -> EqualityCheck:
    """The largest difference of two arrays of numbers.

    Raises:
        InputError: it is over the tolerance, or they have not the same shape: times of unlike outputs say nothing.
    """
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if left.shape != right.shape:
        raise InputError(what, f"there are {left.shape} and {right.shape} numbers: nothing was timed")
    difference = float(np.abs(left - right).max(initial=0.0))
    if not difference <= tolerance:
        raise InputError(
            what, f"they differ by {difference:.3g}, {tolerance:g} is allowed: nothing was timed"
        )
    return EqualityCheck(what, difference, tolerance)


@dataclass(frozen=True)
class BenchmarkResult:
    """The outcome of one comparison.

    Attributes:
        seconds: medians over the rounds, by what was timed.
        sizes: of what was compared, with the peers' versions.
    """

    figures: list[BenchmarkFigure]
    checks: list[EqualityCheck] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)

    def reported(self) -> BenchmarkResult:
        """The same with nothing demanded: of sizes for which nothing is."""
        return replace(self, figures=[replace(figure, demand=None) for figure in self.figures])

    def to_json(self) -> dict[str, Any]:
        return {
            "figures": [asdict(figure) | {"met": figure.met} for figure in self.figures],
            "checks": [asdict(check) for check in self.checks],
            "seconds": self.seconds,
            "sizes": self.sizes,
        }
