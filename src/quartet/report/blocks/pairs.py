"""Every kept difference of two systems of a table that has no section of its own, the systems' main readings first."""

from __future__ import annotations

from quartet.nbest.metrics import METRICS
from quartet.report.cells import FigureKey
from quartet.report.numbers import FORMATS, NONE, Number, count, fixed, p_value
from quartet.report.run_report import Report, grid
from quartet.report.spec import sections
from quartet.results import MAIN_READINGS

DIFFERENCE, PAIRS = "-difference", "-pairs"
INTRO = (
    "The first system minus the second over the same items; the mean over the seeds, where there are several, with an "
    "interval over units and trainings. p is two-sided and not corrected for the number of pairs."
)


def signed(figure: str) -> Number:
    """How a difference of a figure is written: shares and correlations times 100, all else in its own unit."""
    if figure == "loss":
        return FORMATS["signed-four"]
    return FORMATS["signed-two"] if figure in METRICS else fixed(1, 100, sign=True)


def title(table: str) -> str:
    """The heading over the differences of a table."""
    base = sections().get(table.removesuffix(PAIRS))
    return f"{base.title}: systems against each other" if base else table


def of_pairs(report: Report, table: str) -> list[str]:
    """A table of the pairs of main readings, and one of all others; none where there is no difference."""
    places = [
        FigureKey(table, dataset, split, system, metric)
        for dataset, split in report.groups(table)
        for metric in sorted({place.metric for place in report.cells.places(table)})
        if metric.endswith(DIFFERENCE)
        for system in report.systems(table, dataset, split, [metric])
    ]
    main = [place for place in places if _is_main(report, place)]
    lines = [INTRO, ""] if places else []
    for words, own in (("Main readings", main), ("Other readings and parts of sets", places)):
        shown = [place for place in own if own is main or place not in main]
        if shown:
            rows = [_row(report, place) for place in shown]
            heads = ["first", "second", "difference", "p", "set", "split", "figure", "units"]
            lines += [f"{words}:", "", *grid(heads, rows)]
            lines += report.caption("95 % bootstrap interval, the same units for both", "items")
    return lines


def _is_main(report: Report, place: FigureKey) -> bool:
    """Whether both systems are read in their main way, on a whole set."""
    _, reading, versus = report.cells.name(place.system)
    return {reading, report.reading(versus)} <= set(MAIN_READINGS) and "/" not in place.dataset


def _row(report: Report, place: FigureKey) -> list[str]:
    cell = report.cells.find(place)
    assert cell is not None, place
    figure, row = place.metric.removesuffix(DIFFERENCE), cell.rows[0]
    scaled = figure if figure in (*METRICS, "loss") else f"{figure} × 100"
    text = report.text(signed(figure), *place[:3], place.system, place.metric).partition(" p ")[0]
    first = place.system.removesuffix(f" - {row.versus}")
    return [
        *(report.label(first), report.label(row.versus), text, NONE if cell.p is None else p_value(cell.p)),
        *(place.dataset, place.split or NONE, scaled),
        NONE if row.units is None else f"{count(row.units)} {row.unit}",
    ]
