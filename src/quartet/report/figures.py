"""The pictures of a report: the same numbers give the same bytes, as .png or .svg.

Colours are Okabe and Ito's, which colour-blind readers can tell apart, and never alone: a line also has its
own marker. A model keeps both in every picture. Each function writes one file and says whether there was
anything to draw.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from quartet.config.model import PREDICTS
from quartet.nbest.metrics import METRICS
from quartet.report.cells import Cell, Cells
from quartet.report.drawing import (
    GREY,
    HOLLOW,
    PALETTE,
    WIDTH,
    Points,
    averaged,
    line,
    look,
    save,
    shared_legend,
    style,
)
from quartet.report.facts import RunFacts
from quartet.report.order import set_rank, split_rank, system_rank
from quartet.report.run_report import Report
from quartet.results import INTACT, Result, system_name
from quartet.tasks.attention.maps import DocumentAttention

SHORT = 18  # letters of names that fit side by side over a small panel
#: What a row of training curves reads.
READ = {"sentences": "single sentences", "spans": "document spans", "streams": "whole documents"}
#: The colour and the name of a reading of a model.
READINGS = {
    "context": (PALETTE[0], "final layer (context)"),
    "embed": (PALETTE[4], "embedding layer (embed)"),
    "table": (PALETTE[7], "token table (table)"),
    "cls": (PALETTE[3], "first token (cls)"),
    "eos": (PALETTE[5], "last token (eos)"),
    "": (PALETTE[2], "word vectors"),
}
READINGS[f"{INTACT}/context"] = READINGS["context"]
RERANK, SIMILARITY = "rerank", "sts"
#: Readings that belong to the tuning on entailment.
TUNED = ("untuned", "nli", "random-nli")


def training_curves(path: str | Path, curves: Mapping[str, Points], facts: RunFacts) -> bool:
    """Validation loss against steps: a column an objective, a panel each input, each on its own scale.

    Args:
        path: the file to write; its suffix says what kind.
        curves: by model, (step, nats per predicted token). Steps that occur again (other seeds) are averaged,
            and their range shaded.
        facts: which objective and input a model has; one that they do not list has a panel to itself.
    """
    columns = training_panels([name for name in curves if curves[name]], facts)
    if not columns:
        return False
    rows = max(len(panels) for panels in columns)
    with style():
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
        save(figure, path)
    return True


def _legend_lines(names: Sequence[str]) -> int:
    """How many lines a legend of a small panel takes, two names a line if they are short."""
    return -(-len(names) // (2 if sum(map(len, names[:2])) <= SHORT else 1))


def training_panels(names: Sequence[str], facts: RunFacts) -> list[dict[str, list[str]]]:
    """For each objective the models of each kind of input, by the panel's title."""
    panels: defaultdict[tuple[int, str], defaultdict[tuple[int, str], list[str]]]
    panels = defaultdict(lambda: defaultdict(list))
    for name in sorted(names, key=lambda name: system_rank(name, name, "", facts)):
        model = facts.model(name)
        if model is None:
            panels[len(PREDICTS), ""][0, name].append(name)
            continue
        objective, reads = PREDICTS[model.objective][0], READ[model.reads]
        place = list(PREDICTS).index(model.objective), list(READ).index(model.reads)
        panels[place[0], objective][place[1], f"{objective},\n{reads}"].append(name)
    return [
        {title: members for (_, title), members in sorted(inputs.items())}
        for _, inputs in sorted(panels.items())
    ]


def wer_curves(
    path: str | Path,
    curves: Mapping[tuple[str, str, str], Points],
    results: Iterable[Result],
    facts: RunFacts,
) -> bool:
    """Error or BLEU against the weight of the language model, a row a set of lists and a column a split.

    Args:
        path: the file to write.
        curves: by (lists, split, system), (weight, WER in % or BLEU); weight 0 is the first pass.
        results: of the experiment: first pass and oracle are lines, the weight chosen on dev a hollow mark.
        facts: the order and colours of the systems.
    """
    drawn = {key: points for key, points in curves.items() if points}
    if not drawn:
        return False
    report = Report(Cells(row for row in results if row.table == RERANK), facts)
    lists = sorted({key[0] for key in drawn}, key=lambda name: set_rank(name, facts))
    splits = sorted({key[1] for key in drawn}, key=split_rank)
    with style():
        figure = Figure(figsize=(WIDTH, 3.6 * len(lists) + 0.5), layout="constrained")
        axes = figure.subplots(len(lists), len(splits), squeeze=False)
        for row, name in zip(axes, lists, strict=True):
            for axis, split in zip(row, splits, strict=True):
                of_panel = {key[2]: points for key, points in drawn.items() if key[:2] == (name, split)}
                if of_panel:
                    wer_panel(axis, of_panel, report, name, split)
                    axis.set_title(f"{name}, {split}")
                else:
                    axis.set_axis_off()
        shared_legend(figure, axes.ravel(), 4)
        save(figure, path)
    return True


def wer_panel(axis: Axes, curves: Mapping[str, Points], report: Report, name: str, split: str) -> None:
    """One set of lists and one split. A curve that soars leaves the panel: what counts is better than that."""
    metric = next((one for one in METRICS if report.systems(RERANK, name, None, [one])), "wer")
    worse = -METRICS[metric].better
    oracle = report.find(RERANK, name, split, "oracle", metric)
    first = report.find(RERANK, name, split, "first-pass", metric)
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
        weight = report.find(RERANK, name, None, system, "weight")
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
    axis.set_xlabel("weight of the language model")
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
    axis.plot(
        [max(nearest, left)],
        [value],
        marker=marker,
        markeredgecolor=colour,
        zorder=4,
        clip_on=False,
        **HOLLOW,
    )
    return value


def sts_bars(path: str | Path, results: Iterable[Result], facts: RunFacts) -> bool:
    """Pearson × 100 with intervals, a panel a set, a row a model, a bar a layer."""
    own = (row for row in results if row.table == SIMILARITY and row.reading not in TUNED)
    report = Report(Cells(own), facts)
    groups = {
        group: cells
        for group in report.groups(SIMILARITY)
        if (cells := report.figures(SIMILARITY, *group, "pearson"))
    }
    if not groups:
        return False
    systems = report.sorted({system for cells in groups.values() for system in cells})
    rows_of = {system: _row(report, system) for system in systems}
    names = list(dict.fromkeys(rows_of.values()))
    with style():
        columns = min(3, len(groups))
        rows = -(-len(groups) // columns)
        figure = Figure(figsize=(WIDTH, (0.42 * len(names) + 0.9) * rows + 0.5), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        for axis in axes[len(groups) :]:
            axis.set_axis_off()
        for axis, ((dataset, split), cells) in zip(axes, groups.items(), strict=False):
            _bars(axis, report, cells, names)
            n = next(iter(cells.values())).n
            axis.set_title(f"{dataset} {split}".strip() + f", {n:,} pairs")
        axes[0].invert_yaxis()
        if any(cell.bounds for cells in groups.values() for cell in cells.values()):
            axes[0].add_line(Line2D([], [], color="black", linewidth=1.2, label="95 % interval"))
        shared_legend(figure, axes, 4)
        save(figure, path)
    return True


def _row(report: Report, system: str) -> str:
    """The model of a system; the intact input has a row of its own."""
    intact = report.reading(system).startswith(INTACT)
    return system_name(report.model(system), INTACT if intact else "")


def _bars(axis: Axes, report: Report, cells: Mapping[str, Cell], names: Sequence[str]) -> None:
    for row, name in enumerate(names):
        own = [system for system in cells if _row(report, system) == name]
        height = 0.8 / max(2, len(own))
        for place, system in enumerate(own):
            reading = report.reading(system)
            cell = cells[system]
            y = row + (place - (len(own) - 1) / 2) * height
            low, high = cell.bounds or (cell.value, cell.value)
            colour, label = READINGS.get(reading, (GREY, reading))
            axis.barh(y, 100 * cell.value, height=height * 0.92, color=colour, label=label)
            axis.plot([100 * low, 100 * high], [y, y], color="black", linewidth=1.2, solid_capstyle="butt")
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_xlabel("Pearson × 100")


#: Boundaries in attention maps have a colour that stands out from all colours of the map.
PARAGRAPH: dict[str, Any] = {"color": "#FF7F2A", "linewidth": 1.6, "linestyle": "-"}
SENTENCE: dict[str, Any] = {"color": "#FF7F2A", "linewidth": 0.9, "linestyle": (0, (2, 2))}
#: The maps' colours end at this share of all weights, so that a few peaks do not darken the rest.
CEILING = 0.995
#: Maps side by side.
ATTENTION_COLUMNS = 2


def attention_maps(path: str | Path, articles: Mapping[str, DocumentAttention]) -> bool:
    """Heat maps with the boundaries of sentences and paragraphs (Bai et al. 2021, Figures 5-8).

    A panel a model and layer: rows are queries, columns keys, from the first token on.

    Args:
        path: the file to write; its suffix says what kind.
        articles: by model, with the weights of the layers to draw.
    """
    panels = [
        (name, layer, article) for name, article in articles.items() for layer in sorted(article.weights_TT)
    ]
    if not panels:
        return False
    rows = -(-len(panels) // ATTENTION_COLUMNS)
    with style():
        figure = Figure(figsize=(WIDTH, 3.9 * rows + 0.4), layout="constrained")
        axes = figure.subplots(rows, ATTENTION_COLUMNS, squeeze=False).ravel()
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        for axis, (name, layer, article) in zip(axes, panels, strict=False):
            _attention_panel(figure, axis, article, layer)
            axis.set_title(f"{name}, layer {layer}")
        lines = [
            Line2D([], [], label="a paragraph begins", **PARAGRAPH),
            Line2D([], [], label="a sentence begins", **SENTENCE),
        ]
        figure.legend(handles=lines, loc="outside lower center", ncols=2)
        save(figure, path)
    return True


def _attention_panel(figure: Figure, axis: Axes, article: DocumentAttention, layer: int) -> None:
    weights_TT = np.where(article.allowed_TT, article.weights_TT[layer], np.nan)
    top = float(np.nanquantile(weights_TT, CEILING))
    picture = axis.imshow(weights_TT, cmap="cividis", vmin=0, vmax=top or 1, interpolation="nearest")
    axis.set_facecolor("#E8E8E8")  # what a query may not see
    size = len(article.own_T)
    for numbers, look_of in ((article.sentences_T, SENTENCE), (article.paragraphs_T, PARAGRAPH)):
        for place in np.flatnonzero(np.diff(numbers)) + 0.5:
            axis.axhline(place, **look_of)
            axis.axvline(place, **look_of)
    axis.grid(visible=False)
    axis.set_xlim(-0.5, size - 0.5)
    axis.set_ylim(size - 0.5, -0.5)
    axis.set_xlabel("key: the token attended to")
    axis.set_ylabel("query: the token that attends")
    figure.colorbar(picture, ax=axis, extend="max", shrink=0.8, label="attention probability")
