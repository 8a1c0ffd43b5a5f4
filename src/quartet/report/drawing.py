"""What all pictures share: colours, marks, lines, and how a file is written. Imports matplotlib."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quartet.files import atomic_path
from quartet.report.facts import RunFacts
from quartet.report.order import MODELS
from quartet.report.run_report import Report
from quartet.tasks.attention.maps import DocumentAttention

Points = Sequence[tuple[float, float]]

WIDTH = 9.0  # inches; a README shows about 830 pixels, so text of 10 points stays readable
SMALL = (5.8, 3.5)  # about half of the page
DPI = 120  # of what is no line: the maps
# Okabe and Ito's, their yellow darkened: it is pale on white
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY = "#666666"
HOLLOW: dict[str, Any] = {
    "markersize": 10,
    "markerfacecolor": "white",
    "markeredgewidth": 1.8,
    "linestyle": "none",
}
STYLE: dict[str, Any] = {
    "svg.hashsalt": "quartet",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E0E0E0",
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.handlelength": 2.0,
    "legend.columnspacing": 1.4,
    "figure.facecolor": "white",
}


@dataclass(frozen=True, kw_only=True)
class PictureData:
    """What pictures are drawn from.

    Attributes:
        report: the results, and the order and colours of their systems.
        training: by model, (step, nats per predicted token). Steps that occur again (other seeds) are averaged, and
            their range shaded.
        weights: by (lists, split, system), (weight, WER in % or BLEU); weight 0 is the first pass.
        maps: by model, an article with the attention of the layers to draw.
    """

    report: Report
    training: Mapping[str, Points] = field(default_factory=dict)
    weights: Mapping[tuple[str, str, str], Points] = field(default_factory=dict)
    maps: Mapping[str, DocumentAttention] = field(default_factory=dict)


def averaged(points: Points) -> list[tuple[float, float, float, float]]:
    """(x, mean, least, greatest) of the points that share an x, ascending."""
    values: defaultdict[float, list[float]] = defaultdict(list)
    for x, y in points:
        values[x].append(y)
    return [(x, fmean(values[x]), min(values[x]), max(values[x])) for x in sorted(values)]


def look(model: str, facts: RunFacts) -> tuple[str, str]:
    """A model's own colour and marker; what is no model is grey."""
    names = [*(model.name for model in facts.models), *(one.name for one in facts.pretrained)]
    names += [model for model in MODELS if model not in names]
    if model not in names:
        return GREY, MARKERS[-1]
    round_, place = divmod(names.index(model), len(PALETTE))
    return PALETTE[place], MARKERS[(place + 3 * round_) % len(MARKERS)]


def line(axis: Axes, points: Points, system: str, facts: RunFacts, every: int = 1, model: str = "") -> None:
    """A line with a mark at each `every`-th point and the range of its seeds; dashed for a reading of `model`."""
    rows = averaged(points)
    xs, means, lows, highs = ([row[place] for row in rows] for place in range(4))
    colour, marker = look(model or system, facts)
    dashes = "-." if colour == GREY else "-" if system == (model or system) else "--"
    axis.plot(xs, means, dashes, color=colour, marker=marker, markevery=every, markersize=5, label=system)
    if lows != highs:
        axis.fill_between(xs, lows, highs, color=colour, alpha=0.2, linewidth=0)


def shared_legend(figure: Figure, axes: Iterable[Axes], columns: int) -> None:
    """One legend of all panels, below them, each name once; fewer columns where the figure is too narrow."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    for ncols in range(min(columns, len(entries)), 0, -1):
        legend = figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=ncols)
        if ncols == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def style() -> AbstractContextManager[None]:
    """The defaults of matplotlib with ours on top, whatever the user's own settings are."""
    return matplotlib.style.context(["default", STYLE])


def small_panels(number: int) -> tuple[Figure, Sequence[Axes]]:
    """A picture of the first screen, and its panels side by side."""
    figure = Figure(figsize=SMALL, layout="constrained")
    return figure, list(figure.subplots(1, number, squeeze=False).ravel())


def save(figure: Figure, path: Path) -> None:
    """Write an SVG file without a date or a version, atomically."""
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="svg", dpi=DPI, metadata={"Date": None, "Creator": None})
