"""Milliseconds per sentence against its words: the T-TA paper's Figures 4 (masked models and T-TA), 5 and 6 (on a GPU).

See `figures.py` for what all pictures keep to. The upper panels have linear axes, as the paper's, the lower ones
logarithmic axes, on which a power of the number of words is a straight line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from quartet.report.blocks import runtime
from quartet.report.cells import Cell, Cells
from quartet.report.drawing import HOLLOW, WIDTH, look, save, shared_legend, style
from quartet.report.facts import RunFacts
from quartet.report.published import published_figures
from quartet.report.run_report import Report
from quartet.results import Result

#: By the tasks of `runtime.TASKS`.
TITLES = {"sts": "a sentence vector (sts)", "rerank": "a sentence score (rerank)"}
#: Words at which a logarithmic axis has its numbers, of those that were timed.
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
#: The published systems that have printed times, and our lines whose colours they have.
PRINTED = ("bilm", "tta")

#: By system, (words, milliseconds).
Lines = dict[str, list[tuple[int, Cell]]]


def bidirectional(path: str | Path, timings: Iterable[Result], facts: RunFacts, device: str = "cpu") -> bool:
    """Figure 4, and on a GPU Figure 6: the masked models and T-TA, with the paper's times at 20 words.

    Args:
        path: the file to write; its suffix says what kind.
        timings: of the experiment; rows of other tables are left out.
        facts: the order, colours and objectives of the models.
        device: ``cpu`` or ``cuda``.

    Returns:
        Whether there was anything to draw.
    """
    report = _report(timings, facts)
    lines = {task: _of(report, task, device, {"mlm", "lae", ""}) for task in runtime.TASKS}
    return _draw(path, report, lines, device, printed=True)


def one_pass(path: str | Path, timings: Iterable[Result], facts: RunFacts) -> bool:
    """Figure 5: uniLM and T-TA, which both read a sentence once; only where one of each was timed."""
    report = _report(timings, facts)
    lines = {task: _of(report, task, "cpu", {"clm", "lae"}) for task in runtime.TASKS}
    if any(
        {runtime.objective(report.model(name), facts) for name in drawn} != {"clm", "lae"}
        for drawn in lines.values()
    ):
        return False
    return _draw(path, report, lines, "cpu", printed=False)


def _report(timings: Iterable[Result], facts: RunFacts) -> Report:
    return Report(Cells(row for row in timings if row.table == runtime.TABLE), facts)


def _of(report: Report, task: str, device: str, objectives: set[str]) -> Lines:
    """Those of systems with such an objective."""
    return {
        system: points
        for system, points in lines_of(report, task, device).items()
        if runtime.objective(report.model(system), report.facts) in objectives
    }


def lines_of(report: Report, task: str, device: str) -> Lines:
    """The times of a task, system by system."""
    split = runtime.SPLITS[device]
    found: Lines = {}
    for words, dataset in runtime.word_counts(report, split).items():
        for system, cell in report.figures(runtime.TABLE, dataset, split, "ms").items():
            if report.reading(system) in runtime.TASKS[task]:
                found.setdefault(system, []).append((words, cell))
    return found


def _draw(
    path: str | Path, report: Report, lines: Mapping[str, Lines], device: str, *, printed: bool
) -> bool:
    drawn = {task: names for task, names in lines.items() if names}
    if not drawn:
        return False
    with style():
        figure = Figure(figsize=(WIDTH, 6.6), layout="constrained")
        panels = figure.subplots(2, len(drawn), squeeze=False, sharey="row", sharex="row")
        for column, (task, names) in enumerate(drawn.items()):
            for row, scale in enumerate(("linear", "log")):
                axis = panels[row, column]
                for place, name in enumerate(report.sorted(names)):
                    timed_line(axis, names[name], name, report, max(4.0, 8.0 - place))
                if printed:
                    _printed(axis, task, device, report.facts)
                axis.set_title(TITLES[task] + ("" if scale == "linear" else ", logarithmic axes"))
                axis.set_xlabel("words in the sentence")
        timed = sorted(
            {words for names in drawn.values() for points in names.values() for words, _ in points}
        )
        _linear(panels[0, 0], timed)
        logarithmic(panels[1], timed)
        for row in panels:
            row[0].set_ylabel("milliseconds per sentence")
        shared_legend(figure, panels.ravel(), 3)
        save(figure, path)
    return True


def timed_line(
    axis: Axes, points: Sequence[tuple[int, Cell]], system: str, report: Report, size: float = 5
) -> None:
    """A line with intervals, one-by-one readings dashed; lines drawn first have larger marks, which show behind."""
    colour, marker = look(report.model(system), report.facts)
    name = runtime.untasked(report, system)
    dashes = "-" if name == report.model(system) else "--"
    xs = [words for words, _ in points]
    axis.plot(
        xs,
        [cell.value for _, cell in points],
        dashes,
        color=colour,
        marker=marker,
        markersize=size,
        label=name,
    )
    for words, cell in points:
        if cell.bounds:
            axis.plot([words, words], cell.bounds, color=colour, linewidth=1.0)


def _printed(axis: Axes, task: str, device: str, facts: RunFacts) -> None:
    """The paper's times at its standard length, hollow, in the colours of our models of the same names."""
    table = published_figures().tables[runtime.PAPER[device]]
    for name in PRINTED:
        value = table.get(task, name)
        if value is not None:
            colour, marker = look(name, facts)
            axis.plot([runtime.STANDARD], [value], marker=marker, markeredgecolor=colour, zorder=4,
                      label=f"{name}, the paper's own machine", **HOLLOW)  # fmt: skip


def _linear(axis: Axes, timed: Sequence[int]) -> None:
    """For all panels of the row: they share their axes."""
    axis.set_xlim(0, 1.04 * max(timed[-1], 1))
    axis.set_ylim(bottom=0)


def logarithmic(row: Sequence[Axes], timed: Sequence[int], few: int = 0) -> None:
    """Both axes of panels that share them; up to `few` lengths all have their numbers, of more those in `TICKS`."""
    for axis in row:
        axis.set_xscale("log")
        axis.set_yscale("log")
    axis = row[0]
    ticks = (len(timed) > few and [words for words in TICKS if words in timed]) or list(timed)
    axis.set_xticks(ticks, [str(words) for words in ticks])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    widen = max(1.0, (8 * low / high) ** 0.5)  # so that at least two numbers stand on the axis
    axis.set_ylim(low / widen, high * widen)
