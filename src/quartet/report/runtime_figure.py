"""Milliseconds per sentence against its words: the T-TA paper's Figures 4 (masked models and T-TA), 5 and 6 (on a GPU).

See `figures.py` for what all pictures keep to.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from quartet.report.blocks import runtime
from quartet.report.cells import Cell
from quartet.report.drawing import HOLLOW, WIDTH, PictureData, look, shared_legend, small_panels
from quartet.report.facts import RunFacts
from quartet.report.published import published_figures
from quartet.report.run_report import Report
from quartet.report.spec import PictureSpec

#: Words at which a logarithmic axis has its numbers, of those that were timed.
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
#: As many lengths have room for their numbers on one axis.
FEW = 8

#: By system, (words, milliseconds).
Lines = dict[str, list[tuple[int, Cell]]]


def times(data: PictureData, _: str, spec: PictureSpec) -> Figure | None:
    """The systems of `objectives` on a `device`, a column a task; each must have been timed, where all are known.

    The upper panels have linear axes, as the paper's, the lower ones logarithmic axes, on which a power of the number
    of words is a straight line. The paper's times are hollow, where `beside` says what they are called.
    """
    report = data.report
    drawn: dict[str, Lines] = {}
    for task in runtime.TASKS:
        lines = _lines_of(report, task, spec.device)
        kinds = {name: runtime.objective(report.model(name), report.facts) for name in lines}
        if own := {name: lines[name] for name in lines if kinds[name] in spec.objectives}:
            drawn[task] = own
        if "" not in spec.objectives and not set(spec.objectives) <= set(kinds.values()):
            return None
    if not drawn:
        return None
    figure = Figure(figsize=(WIDTH, 6.6), layout="constrained")
    panels = figure.subplots(2, len(drawn), squeeze=False, sharey="row", sharex="row")
    for column, (task, names) in enumerate(drawn.items()):
        for row, scale in enumerate(("linear", "log")):
            axis = panels[row, column]
            for place, name in enumerate(report.sorted(names)):
                _timed_line(axis, names[name], name, report, max(4.0, 8.0 - place))
            if spec.beside:
                _printed(axis, task, spec, report.facts)
            axis.set_title(
                f"{runtime.TASKS[task]} ({task})" + ("" if scale == "linear" else ", logarithmic axes")
            )
            axis.set_xlabel(spec.x)
    timed = sorted({words for names in drawn.values() for points in names.values() for words, _ in points})
    panels[0, 0].set_xlim(0, 1.04 * max(timed[-1], 1))
    panels[0, 0].set_ylim(bottom=0)
    _logarithmic(panels[1], timed)
    for row in panels:
        row[0].set_ylabel(spec.y)
    shared_legend(figure, panels.ravel(), spec.legend)
    return figure


def vector_times(data: PictureData, _: str, spec: PictureSpec) -> Figure | None:
    """One small panel for a sentence vector on the processor, or on the GPU where there is nothing else."""
    report = data.report
    for device, split in runtime.SPLITS.items():
        lines = _lines_of(report, "sts", device)
        points = {name: lines[name] for name in lines if report.facts.model(report.model(name))}
        if points:
            figure, (axis,) = small_panels(1)
            for name in report.sorted(points):
                _timed_line(axis, points[name], name, report)
            axis.set_ylabel(spec.y)
            axis.set_xlabel(f"{spec.x}, {'GPU' if device == 'cuda' else 'processor'}")
            _logarithmic([axis], list(runtime.word_counts(report, split)), FEW)
            shared_legend(figure, [axis], spec.legend)
            return figure
    return None


def _lines_of(report: Report, task: str, device: str) -> Lines:
    """The times of a task, system by system."""
    split = runtime.SPLITS[device]
    found: Lines = {}
    for words, dataset in runtime.word_counts(report, split).items():
        for system, cell in report.figures(runtime.TABLE, dataset, split, "ms").items():
            if runtime.task_of(report, system) == task:
                found.setdefault(system, []).append((words, cell))
    return found


def _timed_line(
    axis: Axes, points: Sequence[tuple[int, Cell]], system: str, report: Report, size: float = 5
) -> None:
    """A line with intervals, one-by-one readings dashed; lines drawn first have larger marks, which show behind."""
    colour, marker = look(report.model(system), report.facts)
    name = runtime.untasked(report, system)
    dashes = "-" if name == report.model(system) else "--"
    xs, ys = [words for words, _ in points], [cell.value for _, cell in points]
    axis.plot(xs, ys, dashes, color=colour, marker=marker, markersize=size, label=name)
    for words, cell in points:
        if cell.bounds:
            axis.plot([words, words], cell.bounds, color=colour, linewidth=1.0)


def _printed(axis: Axes, task: str, spec: PictureSpec, facts: RunFacts) -> None:
    """The paper's times at its standard length, in the colours of our models of the same names."""
    table = published_figures().tables[runtime.PAPER[spec.device]]
    for name in ("bilm", "tta"):
        value = table.get(task, name)
        if value is not None:
            colour, marker = look(name, facts)
            axis.plot([runtime.STANDARD], [value], marker=marker, markeredgecolor=colour, zorder=4,
                      label=f"{name}, {spec.beside}", **HOLLOW)  # fmt: skip


def _logarithmic(row: Sequence[Axes], timed: Sequence[int], few: int = 0) -> None:
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
