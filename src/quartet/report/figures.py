"""The pictures of a report: each is an entry of its section, drawn by its kind of plot. Imports matplotlib.

The same numbers give the same bytes. Colours are Okabe and Ito's, which colour-blind readers can tell apart, and never
alone: a line also has its own marker. A model keeps both in every picture. The function of a kind of plot gives None
where there is nothing to draw.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from quartet.config.objectives import OBJECTIVES
from quartet.report.attention_figure import maps
from quartet.report.cells import Cell
from quartet.report.drawing import (
    GREY,
    HOLLOW,
    PALETTE,
    WIDTH,
    PictureData,
    Points,
    line,
    look,
    save,
    shared_legend,
    small_panels,
    style,
)
from quartet.report.facts import RunFacts
from quartet.report.order import system_rank
from quartet.report.papers.exhibits import exhibits, ours
from quartet.report.run_report import Report
from quartet.report.runtime_figure import times, vector_times
from quartet.report.spec import PictureSpec, sections
from quartet.report.weights_figure import first_weights, weights
from quartet.results import INTACT, system_name

SHORT = 18  # letters of names that fit side by side over a small panel
#: What a row of training curves reads.
READ = {"sentences": "single sentences", "spans": "document spans", "streams": "whole documents"}


def draw(folder: Path, data: PictureData, *, timed: bool = False) -> dict[str, str]:
    """Draw the pictures of the sections that are timed, or of those that are not.

    Returns:
        The names of the files, by the pictures' own; without those of which there is nothing to draw.
    """
    drawn = {}
    for table, section in sections().items():
        for name, spec in section.pictures.items():
            with style():
                figure = PLOTS[spec.plot](data, table, spec) if section.timed == timed else None
                if figure is not None:
                    drawn[name] = f"{name}.svg"
                    save(figure, folder / drawn[name])
    return drawn


def losses(data: PictureData, _: str, __: PictureSpec) -> Figure | None:
    """Validation loss against steps: a column an objective, a panel each input, each on its own scale."""
    facts, curves = data.report.facts, data.training
    columns = training_panels([name for name in curves if curves[name]], facts)
    if not columns:
        return None
    rows = max(len(panels) for panels in columns)
    figure = Figure(figsize=(WIDTH, 3.1 * rows + 0.2), layout="constrained")
    axes = figure.subplots(rows, len(columns), squeeze=False)
    for column, panels in enumerate(columns):
        for row, (title, names) in enumerate(panels.items()):
            axis = axes[row, column]
            for name in names:
                line(axis, curves[name], name, facts)
            lines = max(_legend_lines(list(other.values())[row]) for other in columns if row < len(other))
            axis.set_title(title, pad=9 + 15 * lines)
            side_by_side = -(-len(names) // _legend_lines(names))
            axis.legend(loc="lower left", bbox_to_anchor=(-0.03, 1.01), ncols=side_by_side, borderpad=0.1,
                        labelspacing=0.2, borderaxespad=0.0)  # fmt: skip
            axis.set_xlim(left=0)
            if row == len(panels) - 1:
                axis.set_xlabel("training step")
        for axis in axes[len(panels) :, column]:
            axis.set_axis_off()
    figure.supylabel("validation loss, nats per predicted token", fontsize=10)
    return figure


def _legend_lines(names: Sequence[str]) -> int:
    """How many lines a legend of a small panel takes, two names a line if they are short."""
    return -(-len(names) // (2 if sum(map(len, names[:2])) <= SHORT else 1))


def training_panels(names: Sequence[str], facts: RunFacts) -> list[dict[str, list[str]]]:
    """For each objective the models of each kind of input, by the panel's title; an unknown model stands alone."""
    panels: defaultdict[tuple[int, str], defaultdict[tuple[int, str], list[str]]]
    panels = defaultdict(lambda: defaultdict(list))
    for name in sorted(names, key=lambda name: system_rank(name, name, "", facts)):
        model = facts.model(name)
        if model is None:
            panels[len(OBJECTIVES), ""][0, name].append(name)
            continue
        objective, reads = OBJECTIVES[model.objective].label, READ[model.reads]
        place = list(OBJECTIVES).index(model.objective), list(READ).index(model.reads)
        panels[place[0], objective][place[1], f"{objective},\n{reads}"].append(name)
    return [
        {title: members for (_, title), members in sorted(inputs.items())}
        for _, inputs in sorted(panels.items())
    ]


def loss_pairs(data: PictureData, _: str, spec: PictureSpec) -> Figure | None:
    """Validation loss against steps, a panel each of the groups of `models` that were all trained."""
    groups = [group for group in spec.models if all(data.training.get(name) for name in group)]
    panels = [{name: data.training[name] for name in group} for group in groups]
    return _lines(panels, data.report, spec, spec.x)


def lengths(data: PictureData, table: str, spec: PictureSpec) -> Figure | None:
    """`metric` against the number that a split begins with ("25-tokens"), on the table's first set; a line a system."""
    report = data.report
    curves: dict[str, list[tuple[float, float]]] = {}
    first = next(iter(report.datasets(table)), "")
    for dataset, split in report.groups(table):
        number = split.partition("-")[0]
        if dataset == first and number.isdigit():
            for name, cell in report.figures(table, dataset, split, spec.metric).items():
                curves.setdefault(name, []).append((float(number), cell.value))
    ordered = {name: curves[name] for name in report.sorted(curves)}
    return _lines([ordered] if ordered else [], report, spec, f"{spec.x}, {first}")


def _lines(
    panels: Sequence[Mapping[str, Points]], report: Report, spec: PictureSpec, x: str
) -> Figure | None:
    """A row of small panels."""
    if not panels:
        return None
    figure, axes = small_panels(len(panels))
    for axis, curves in zip(axes, panels, strict=True):
        for name, points in curves.items():
            line(axis, points, name, report.facts)
        axis.set_xlabel(x)
        if spec.ticks:
            axis.xaxis.set_major_locator(MaxNLocator(spec.ticks))
    axes[0].set_ylabel(spec.y)
    shared_legend(figure, axes, spec.legend)
    return figure


def bars(data: PictureData, table: str, spec: PictureSpec) -> Figure | None:
    """A `metric` × 100 with intervals: a panel a set, a row a model, a bar a reading, coloured as `bars` says."""
    report = data.report
    groups: dict[tuple[str, str], dict[str, Cell]] = {}
    for group in report.groups(table):
        cells = report.figures(table, *group, spec.metric)
        own = {one: cell for one, cell in cells.items() if report.reading(one) not in spec.without_readings}
        groups |= {group: own} if own else {}
    if not groups:
        return None
    systems = report.sorted({system for cells in groups.values() for system in cells})
    names = list(dict.fromkeys(_row(report, system) for system in systems))
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(WIDTH, (0.42 * len(names) + 0.9) * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axis in axes[len(groups) :]:
        axis.set_axis_off()
    for axis, ((dataset, split), cells) in zip(axes, groups.items(), strict=False):
        _bars(axis, report, cells, names, spec)
        n = next(iter(cells.values())).n
        axis.set_title(f"{dataset} {split}".strip() + f", {n:,} {spec.unit}")
    axes[0].invert_yaxis()
    if any(cell.bounds for cells in groups.values() for cell in cells.values()):
        axes[0].add_line(Line2D([], [], color="black", linewidth=1.2, label="95 % interval"))
    shared_legend(figure, axes, spec.legend)
    return figure


def _row(report: Report, system: str) -> str:
    """The model of a system; the intact input has a row of its own."""
    intact = report.reading(system).startswith(INTACT)
    return system_name(report.model(system), INTACT if intact else "")


def _bars(
    axis: Axes, report: Report, cells: Mapping[str, Cell], names: Sequence[str], spec: PictureSpec
) -> None:
    for row, name in enumerate(names):
        own = [system for system in cells if _row(report, system) == name]
        height = 0.8 / max(2, len(own))
        for place, system in enumerate(own):
            reading = report.reading(system)
            cell = cells[system]
            y = row + (place - (len(own) - 1) / 2) * height
            low, high = cell.bounds or (cell.value, cell.value)
            number, label = spec.bars.get(reading, (None, reading))
            colour = GREY if number is None else PALETTE[number]
            axis.barh(y, 100 * cell.value, height=height * 0.92, color=colour, label=label)
            axis.plot([100 * low, 100 * high], [y, y], color="black", linewidth=1.2, solid_capstyle="butt")
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_xlabel(spec.x)


def points(data: PictureData, _: str, spec: PictureSpec) -> Figure | None:
    """The first of our sets beside an `exhibit`, × 100, a row a system of `readings`.

    The paper's figures, which `beside` names, are shown where the set is the paper's.
    """
    report = data.report
    exhibit = next(one for one in exhibits() if (one.paper, one.place) == spec.exhibit)
    series = next(iter(ours(report, exhibit)), None)
    if series is None:
        return None
    names = [name for name in series.ours if report.reading(name) in spec.readings]
    figure, (axis,) = small_panels(1)
    for row, name in enumerate(names):
        cell = series.ours[name]
        colour, marker = look(report.model(name), report.facts) if report.reading(name) else (GREY, "o")
        low, high = cell.bounds or (cell.value, cell.value)
        axis.plot([100 * low, 100 * high], [row, row], color=colour, linewidth=2)
        axis.plot([100 * cell.value], [row], marker=marker, color=colour, markersize=8, linestyle="none")
        if series.same and name in series.printed:
            axis.plot([series.printed[name]], [row], marker="d", markeredgecolor=GREY, **HOLLOW)
    axis.plot([], [], marker="o", color=GREY, label="ours, with its 95 % interval")
    if series.same:
        axis.plot([], [], marker="d", markeredgecolor=GREY, label=spec.beside, **HOLLOW)
    axis.set_yticks(range(len(names)), [_row(report, name) for name in names])
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.axvline(0, color=GREY, linewidth=0.8)
    n = next(iter(series.ours.values())).n
    axis.set_xlabel(f"{series.ours_on.replace('`', '')} ({n:,} {spec.unit})")
    shared_legend(figure, [axis], spec.legend)
    return figure


#: The kinds of plot, by the names that sections have.
PLOTS: dict[str, Callable[[PictureData, str, PictureSpec], Figure | None]] = {
    "losses": losses,
    "loss-pairs": loss_pairs,
    "lengths": lengths,
    "weights": weights,
    "first-weights": first_weights,
    "bars": bars,
    "points": points,
    "maps": maps,
    "times": times,
    "vector-times": vector_times,
}
