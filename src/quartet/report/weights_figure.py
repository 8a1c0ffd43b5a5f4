"""Error or BLEU against the weight of the language model. See `figures.py` for what all pictures keep to."""

from __future__ import annotations

from collections.abc import Mapping, Set
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quartet.nbest.metrics import METRICS
from quartet.report.drawing import (
    GREY,
    HOLLOW,
    WIDTH,
    PictureData,
    Points,
    averaged,
    line,
    look,
    shared_legend,
    small_panels,
)
from quartet.report.order import set_rank, split_rank
from quartet.report.run_report import Report
from quartet.report.spec import PictureSpec


def weights(data: PictureData, table: str, spec: PictureSpec) -> Figure | None:
    """A row a set of lists and a column a split."""
    drawn = {key: points for key, points in data.weights.items() if points}
    if not drawn:
        return None
    lists = sorted({key[0] for key in drawn}, key=lambda name: set_rank(name, data.report.facts))
    splits = sorted({key[1] for key in drawn}, key=split_rank)
    figure = Figure(figsize=(WIDTH, 3.6 * len(lists) + 0.5), layout="constrained")
    axes = figure.subplots(len(lists), len(splits), squeeze=False)
    for row, name in zip(axes, lists, strict=True):
        for axis, split in zip(row, splits, strict=True):
            if not _panel(axis, data, table, name, split, spec):
                axis.set_axis_off()
    shared_legend(figure, axes.ravel(), spec.legend)
    return figure


def first_weights(data: PictureData, table: str, spec: PictureSpec) -> Figure | None:
    """The test split of the first set of lists."""
    tested = {key[0] for key in data.weights if key[1] == "test"}
    lists = sorted(tested, key=lambda name: set_rank(name, data.report.facts))
    if not lists:
        return None
    figure, (axis,) = small_panels(1)
    _panel(axis, data, table, lists[0], "test", spec)
    shared_legend(figure, [axis], spec.legend)
    return figure


def _panel(axis: Axes, data: PictureData, table: str, name: str, split: str, spec: PictureSpec) -> bool:
    """One set of lists and one split; whether there is anything to draw."""
    curves = {key[2]: points for key, points in data.weights.items() if key[:2] == (name, split) and points}
    if curves:
        _curves(axis, curves, data.report, (table, name, split))
        axis.set_title(f"{name}, {split}")
        axis.set_xlabel(spec.x)
    return bool(curves)


def _curves(axis: Axes, curves: Mapping[str, Points], report: Report, place: tuple[str, str, str]) -> None:
    """First pass and oracle are lines, the weight chosen on dev is a hollow mark.

    A curve that soars leaves the panel: what counts is better than that.
    """
    table, name, _ = place
    metric = next((one for one in METRICS if report.systems(table, name, None, [one])), "wer")
    worse = -METRICS[metric].better
    oracle = report.find(*place, "oracle", metric)
    first = report.find(*place, "first-pass", metric)
    start = first.value if first else fmean(dict(points)[min(dict(points))] for points in curves.values())
    axis.axhline(start, color=GREY, linestyle="--", label="first pass", zorder=1)
    best = [value for points in curves.values() for _, value in points]
    if oracle:
        axis.axhline(oracle.value, color=GREY, linestyle=":", label="oracle", zorder=1)
        best.append(oracle.value)
    left, right = _ends(axis, {weight for points in curves.values() for weight, _ in points})
    marks = []
    for system in report.sorted(curves):
        every = max(1, len(curves[system]) // 5)
        line(axis, curves[system], system, report.facts, every, model=report.model(system))
        weight = report.find(table, name, None, system, "weight")
        if weight:
            shown = look(report.model(system), report.facts)
            marks.append(_mark(axis, curves[system], weight.value, left, shown))
    if marks:
        axis.plot([], [], marker="o", markeredgecolor=GREY, label="hollow: chosen on dev", **HOLLOW)
    # from here on what is worse is larger, so that one rule serves both metrics
    lowest = min(worse * value for value in best)
    highest = max(worse * value for points in curves.values() for _, value in points)
    origin = worse * start
    gap = max(origin - lowest, 0.25 * start, 0.1)
    top = max(min(highest, origin + 0.8 * gap), *(worse * mark for mark in marks), origin) + 0.08 * gap
    axis.set_ylim(*sorted((worse * (lowest - 0.08 * gap), worse * top)))
    axis.set_xlim(left, right)
    axis.set_ylabel(METRICS[metric].axis)


def _ends(axis: Axes, weights: Set[float]) -> tuple[float, float]:
    """The ends of the axis of weights: as they are where they are a grid, else in log odds, without 0 and 1.

    Weights of an exact search lie where the choices change: many small ones, which only their odds tell apart.
    """
    inside = sorted(weight for weight in weights if 0 < weight < 1)
    steps = np.diff(sorted(weights))
    if not inside or np.allclose(steps, steps[0]):
        return 0.0, max(weights) or 1.0
    axis.set_xscale("logit")
    return inside[0], inside[-1]


def _mark(axis: Axes, points: Points, weight: float, left: float, shown: tuple[str, str]) -> float:
    """Mark the chosen weight on a curve, one beyond the left end at that end; give the error there."""
    nearest, value = min(averaged(points), key=lambda point: abs(point[0] - weight))[:2]
    colour, marker = shown
    at = [max(nearest, left)]
    axis.plot(at, [value], marker=marker, markeredgecolor=colour, zorder=4, clip_on=False, **HOLLOW)
    return value
