"""The sentences of the first screen, from the differences and gains that were kept: no figure is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quartet.report import loss
from quartet.report.blocks import durations, pairs, runtime
from quartet.report.blocks.pairs import DIFFERENCE, PAIRS
from quartet.report.cells import Cell
from quartet.report.numbers import FORMATS, Number, listing
from quartet.report.run_report import Report, code, named
from quartet.report.spec import sections

#: As many systems as a sentence names.
FEW = 6


def sentences(report: Report) -> list[str]:
    """What a run's rows show, the sections in their order."""
    order = list(sections())
    tables = sorted(
        report.cells.tables(),
        key=lambda table: order.index(base) if (base := table.removesuffix(PAIRS)) in order else len(order),
    )
    found = [*gains(report)]
    for table in tables:
        found += differences(report, table)
    return found


def times(report: Report) -> list[str]:
    """What the page of times says."""
    return [*runtime.findings(report), *durations.findings(report)]


def gains(report: Report) -> Iterator[str]:
    """Which models are below the unigram entropy of the same tokens."""
    for dataset, split in report.groups(loss.TABLE):
        cells = report.figures(loss.TABLE, dataset, split, "gain")
        below = [system for system, cell in cells.items() if loss.gains(cell)]
        others = [system for system in cells if system not in below]
        if cells:
            text = f"Loss on `{dataset}` {split}, nats per token below the unigram: "
            text += _named(cells, below, FORMATS["two"]) if below else "none"
            text += f". Not below it, and in no comparison: {named(others)}" if others else ""
            yield f"{text}."


def differences(report: Report, table: str) -> Iterator[str]:
    """Of every whole set and figure of a table, which kept differences leave out 0; none of dev beside test."""
    known = sections().get(table) or sections().get(table.removesuffix(PAIRS))
    title = known.title if known else table
    for dataset, split in report.groups(table):
        metrics = {place.metric for place in report.cells.places(table)}
        for metric in sorted(one for one in metrics if one.endswith(DIFFERENCE)):
            cells = {
                system: cell
                for system, cell in report.figures(table, dataset, split, metric).items()
                if not any(loss.at_unigram(report, model) for model in report.compared(system))
            }
            chosen = split == "dev" and (dataset, "test") in report.groups(table)
            if cells and not chosen and "/" not in dataset:
                yield f"{title}, `{dataset}` {split}, {_told(cells, metric)}."


def _told(cells: dict[str, Cell], metric: str) -> str:
    figure = metric.removesuffix(DIFFERENCE)
    number = pairs.signed(figure)
    n = max(cell.n for cell in cells.values())
    unit = {cell.rows[0].unit for cell in cells.values()} - {""}
    over = (
        f", over {max(cell.rows[0].units or 0 for cell in cells.values())} {listing(sorted(unit))}"
        if unit
        else ""
    )
    if any(cell.bounds and cell.p is None for cell in cells.values()):
        return f"{figure} (n = {n:,}{over}): intervals from too few draws, so no p and no verdict"
    told = [
        system for system, cell in cells.items() if cell.bounds and not cell.bounds[0] <= 0 <= cell.bounds[1]
    ]
    text = f"{figure} (n = {n:,}{over}): {len(told)} of {len(cells)} differences are significant"
    return text + (f": {_named(cells, told, number)}" if 0 < len(told) <= FEW else "")


def _named(cells: dict[str, Cell], systems: Iterable[str], number: Number) -> str:
    return listing([f"{code(system)} ({cells[system].text(number)})" for system in systems])
