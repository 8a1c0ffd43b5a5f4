"""A published column with ours beside it, and one row against another in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from quartet.report.cells import Bounds, Cell, interval
from quartet.report.numbers import FORMATS, NONE, SIGNED, Number, ratio, signed_points
from quartet.statistics.intervals import SIGNIFICANCE

ChangeKind = Literal["difference", "relative", "ratio"]
#: What each kind of change is where nothing changed.
NEUTRAL: dict[ChangeKind, float] = {"difference": 0.0, "relative": 0.0, "ratio": 1.0}
#: The kind of change of figures in a format; of others it is a difference.
KINDS: dict[str, ChangeKind] = {"perplexity": "relative", "milliseconds": "ratio"}

SHOWN, OPPOSITE, OPEN = "same direction, shown", "opposite direction, shown", "not shown"
ALIKE, BETTER, WORSE = (
    "alike, no difference shown",
    "alike in the paper, better here",
    "alike in the paper, worse here",
)
#: Why there is no verdict.
ANOTHER_SET, NOT_KEPT, AT_UNIGRAM, NO_INTERVAL, FEW_DRAWS = (
    "another set",
    "no paired difference kept",
    "not below the unigram",
    "no interval",
    "too few draws",
)
#: Every verdict, the worst first: a claim on several sets is as good as its worst one.
VERDICTS = (
    *(OPPOSITE, WORSE, OPEN, AT_UNIGRAM, NO_INTERVAL, FEW_DRAWS, NOT_KEPT, ANOTHER_SET),
    *(ALIKE, BETTER, SHOWN),
)


class Change(NamedTuple):
    """A kept difference of two systems over the same items, in the unit of its kind.

    Attributes:
        bounds: its 95 % interval; None where there are too few units.
        p: two-sided; None where none was kept: of times, or of an interval from fewer than 10,000 draws.
    """

    value: float
    bounds: Bounds | None
    p: float | None = None

    def side(self, neutral: float) -> int:
        """1 or -1 where the interval lies wholly above or below the neutral value, else 0."""
        low, high = self.bounds or (neutral, neutral)
        return 1 if low > neutral else -1 if high < neutral else 0


def change_of(cell: Cell, unit: Callable[[float], float]) -> Change:
    """A kept difference in another unit."""
    ends = sorted(map(unit, cell.bounds or ()))
    return Change(unit(cell.value), (ends[0], ends[1]) if ends else None, cell.p)


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
        named: the set is named for that column, whole or in part: without it there is no verdict.
        same: it is the paper's set, judged alike, so that a difference of levels means something.
        paired: the kept change of two rows.
        compared: whether a verdict is passed on it: False where the paper says of it that it tells nothing.
        changes: changes that the paper prints as such, by the two rows.
        at_unigram: the rows whose model is not shown to be below the unigram.
        models: the models of its rows.
        better: the sign of a change for the better.
    """

    ours_on: str
    printed_on: str = ""
    ours: Mapping[str, Cell]
    printed: Mapping[str, float] = field(default_factory=dict)
    format: str
    named: bool = True
    same: bool = False
    paired: Callable[[str, str], Change | None] = lambda first, second: None
    compared: bool = True
    changes: Mapping[tuple[str, str], float] = field(default_factory=dict)
    at_unigram: frozenset[str] = frozenset()
    models: tuple[str, ...] = ()
    better: int = 1

    @property
    def kind(self) -> ChangeKind:
        """What a change of its figures is."""
        return KINDS.get(self.format, "difference")

    @property
    def neutral(self) -> float:
        """What says that nothing changed."""
        return NEUTRAL[self.kind]

    @property
    def factor(self) -> float:
        """What ours is multiplied by for the paper's unit."""
        return 100 if self.format == "one" else 1

    def number(self, value: float) -> str:
        """A figure in the paper's unit."""
        return FORMATS[self.format](value)

    def text(self, row: str, bounds: bool = True) -> str:
        """Our figure as text, with its interval."""
        cell = self.ours.get(row)
        return NONE if cell is None else cell.text(lambda value: self.number(self.factor * value), bounds)

    def distance(self, row: str) -> str:
        """Ours minus theirs, theirs taken as exact; nothing where the sets differ."""
        cell, printed = self.ours.get(row), self.printed.get(row)
        if not self.same or cell is None or printed is None:
            return NONE
        return self.change_text(change_of(cell, lambda value: self.factor * value - printed), "difference")

    def change_text(self, change: Change, kind: ChangeKind | None = None) -> str:
        """A change as text, with its interval."""
        kind = kind or self.kind
        number: Number = {"difference": SIGNED[self.format], "relative": signed_points, "ratio": ratio}[kind]
        unit = {"difference": "", "relative": " %", "ratio": " times"}[kind]
        return number(change.value) + (f" {interval(change.bounds, number)}" if change.bounds else "") + unit


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What a table is printed to show: one row against another.

    Attributes:
        first, second: the rows.
        claimed: what the paper reads from it, 1, -1 or 0 (alike), where its numbers do not say so.
        headline: the words of the first screen; "" for what stays in the table.
    """

    first: str
    second: str
    claimed: int | None = None
    headline: str = ""

    def applies(self, series: Series) -> bool:
        """Whether we have both rows, of a measure that is compared."""
        return series.compared and {self.first, self.second} <= series.ours.keys()

    def ours(self, series: Series) -> Change | None:
        """Our change, as it was kept; None where it was not, or where a model is not below the unigram."""
        if series.at_unigram & {self.first, self.second}:
            return None
        return series.paired(self.first, self.second)

    def ours_text(self, series: Series) -> str:
        """Our change; where none was kept, the two figures."""
        change = self.ours(series)
        if change is not None:
            return series.change_text(change)
        return f"{series.text(self.first, bounds=False)} against {series.text(self.second, bounds=False)}"

    def printed(self, series: Series) -> float | None:
        """The change that the paper prints, or that its figures make."""
        if (self.first, self.second) in series.changes:
            return series.changes[self.first, self.second]
        first, second = series.printed.get(self.first), series.printed.get(self.second)
        if first is None or second is None:
            return None
        if series.kind == "difference":
            return first - second
        return first / second if series.kind == "ratio" else 100 * (first / second - 1)

    def printed_text(self, series: Series) -> str:
        """The paper's change; of a picture without numbers the direction."""
        printed = self.printed(series)
        if printed is not None:
            return series.change_text(Change(printed, None))
        return {1: "higher", -1: "lower", 0: "alike", None: NONE}[self.claimed]

    def verdict(self, series: Series, p: float | None = None) -> str:
        """Whether ours bears the paper out, one of `VERDICTS`.

        Args:
            p: corrected for other comparisons; None: the change's interval alone decides.
        """
        if series.at_unigram & {self.first, self.second}:
            return AT_UNIGRAM
        change = self.ours(series)
        if change is None:
            return NOT_KEPT
        if not series.named:
            return ANOTHER_SET
        if change.bounds is None:
            return NO_INTERVAL
        if change.p is None and series.kind != "ratio":  # times have intervals over repeats and no p
            return FEW_DRAWS
        side = 0 if p is not None and p >= SIGNIFICANCE else change.side(series.neutral)
        claimed, printed = self.claimed, self.printed(series)
        if claimed is None:
            claimed = 0 if printed is None else (printed > series.neutral) - (printed < series.neutral)
        if side == 0:
            return OPEN if claimed else ALIKE
        if claimed == 0:
            return BETTER if side == series.better else WORSE
        return SHOWN if side == claimed else OPPOSITE
