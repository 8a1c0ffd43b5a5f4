"""A published column with ours beside it, and one row against another in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from quartet.report.cells import Bounds, Cell, apart, interval
from quartet.report.numbers import FORMATS, NONE, SIGNED, Number, ratio, signed_points

ContrastKind = Literal["difference", "relative", "ratio"]
#: A value and its interval.
FigureLevel = tuple[float, Bounds | None]
#: What each kind of change is where nothing changed.
NEUTRAL: dict[ContrastKind, float] = {"difference": 0.0, "relative": 0.0, "ratio": 1.0}

SHOWN, OPEN, OPPOSITE = "same direction, shown", "not shown", "opposite direction, shown"


@dataclass(frozen=True, kw_only=True)
class Series:
    """One of our sets, with the published column that stands beside it.

    Attributes:
        ours_on: how a row names our set, e.g. "`stsb` test".
        printed_on: how a row names the paper's, e.g. "STSb test"; "" where the paper prints no number.
        ours: our figures by row.
        printed: theirs by row; a row may be in one of the two alone.
        format: a name of `quartet.report.numbers.SIGNED`: how figures in the paper's unit and their differences are
            written. Our figures of the format "one" are shares: the paper's unit is a hundredth.
        same: the set is the paper's own, so that a difference of levels means something.
        paired: our change of two rows over the same items, where it was measured as such, and its kind.
        compared: whether a verdict is passed on it: False where the paper says of it that it tells nothing.
        changes: changes that the paper prints as such, by the two rows.
    """

    ours_on: str
    printed_on: str = ""
    ours: Mapping[str, Cell]
    printed: Mapping[str, float] = field(default_factory=dict)
    format: str
    same: bool = False
    paired: Callable[[str, str], FigureLevel | None] = lambda first, second: None
    compared: bool = True
    paired_kind: ContrastKind = "difference"
    changes: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def factor(self) -> float:
        """What ours is multiplied by for the paper's unit."""
        return 100 if self.format == "one" else 1

    @property
    def number(self) -> Number:
        """Writes a figure."""
        return FORMATS[self.format]

    @property
    def signed(self) -> Number:
        """Writes a difference of two."""
        return SIGNED[self.format]

    def level(self, row: str) -> FigureLevel | None:
        """Our figure in the paper's unit, with its interval."""
        cell = self.ours.get(row)
        return None if cell is None else scaled(cell, self.factor)

    def text(self, row: str) -> str:
        """Our figure as text, with its interval."""
        cell = self.ours.get(row)
        return NONE if cell is None else cell.text(lambda value: self.number(self.factor * value))

    def distance(self, row: str) -> str:
        """Ours minus theirs, theirs taken as exact; nothing where the sets differ."""
        level, printed = self.level(row), self.printed.get(row)
        if not self.same or level is None or printed is None:
            return NONE
        value, bounds = level
        text = self.signed(value - printed)
        return (
            f"{text} {interval((bounds[0] - printed, bounds[1] - printed), self.signed)}" if bounds else text
        )


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What a table is printed to show: one row against another.

    Attributes:
        first, second: the rows.
        kind: a difference, a relative change in percent, or how many times the second the first is.
        claimed: what the paper reads from it, 1, -1 or 0 (alike), where its numbers do not say so.
        headline: the words of the first screen; "" for what stays in the table.
    """

    first: str
    second: str
    kind: ContrastKind = "difference"
    claimed: int | None = None
    headline: str = ""

    @property
    def neutral(self) -> float:
        """What says that nothing changed."""
        return NEUTRAL[self.kind]

    def printed(self, series: Series) -> float | None:
        """The change that the paper prints, or that its figures make."""
        if (self.first, self.second) in series.changes:
            return series.changes[self.first, self.second]
        first, second = series.printed.get(self.first), series.printed.get(self.second)
        return None if first is None or second is None else self._of(first, second)

    def ours(self, series: Series) -> FigureLevel | None:
        """Our change with an interval: the measured one, else from the far ends of the two intervals."""
        if not series.compared:
            return None
        if self.kind == series.paired_kind and (measured := series.paired(self.first, self.second)):
            return measured
        first, second = series.level(self.first), series.level(self.second)
        if first is None or second is None or (self.kind != "difference" and second[0] <= 0):
            return None
        bounds = None
        if first[1] and second[1] and (self.kind == "difference" or second[1][0] > 0):
            bounds = self._of(first[1][0], second[1][1]), self._of(first[1][1], second[1][0])
        return self._of(first[0], second[0]), bounds

    def side(self, series: Series) -> int | None:
        """The direction that the paper finds: 1, -1 or 0; None where it says nothing."""
        printed = self.printed(series)
        if self.claimed is not None or printed is None:
            return self.claimed
        return (printed > self.neutral) - (printed < self.neutral)

    def text(self, value: float, bounds: Bounds | None, series: Series) -> str:
        """A change as text."""
        number = self._number(series)
        unit = {"difference": "", "relative": " %", "ratio": " times"}[self.kind]
        return number(value) + (f" {interval(bounds, number)}" if bounds else "") + unit

    def verdict(self, series: Series) -> str:
        """Whether ours bears the paper out: by the interval, never by the value alone."""
        change = self.ours(series)
        if change is None:
            return NONE
        value, bounds = change
        claimed = self.side(series)
        if bounds is None:
            side = (value > self.neutral) - (value < self.neutral)
            return f"{'same' if side == claimed else 'another'} direction, no interval"
        side = apart(bounds, (self.neutral, self.neutral))
        if bounds[0] == bounds[1] == self.neutral:
            return f"{OPEN}: no change at all"
        if claimed is None:
            return {1: "shown to be higher", -1: "shown to be lower", 0: OPEN}[side]
        if claimed == 0:
            return "alike, no difference shown" if side == 0 else "alike in the paper, shown to differ here"
        if side == 0:
            return OPEN
        return SHOWN if side == claimed else OPPOSITE

    def _of(self, first: float, second: float) -> float:
        if self.kind == "difference":
            return first - second
        return first / second if self.kind == "ratio" else 100 * (first / second - 1)

    def _number(self, series: Series) -> Number:
        return {"difference": series.signed, "relative": signed_points, "ratio": ratio}[self.kind]


def scaled(cell: Cell, factor: float) -> FigureLevel:
    """A cell's mean and interval in another unit, or turned round."""
    ends = sorted(factor * end for end in cell.bounds or ())
    return factor * cell.value, (ends[0], ends[1]) if ends else None
