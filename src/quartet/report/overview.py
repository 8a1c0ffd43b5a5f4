"""The pictures of the first screen: one small panel or two each, for a glance. See `figures.py` for the whole ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quartet.report.blocks import runtime
from quartet.report.cells import Cells
from quartet.report.drawing import GREY, HOLLOW, Points, line, look, save, shared_legend, style
from quartet.report.facts import RunFacts
from quartet.report.figures import wer_panel
from quartet.report.order import set_rank
from quartet.report.papers import segatron, tta
from quartet.report.run_report import Report
from quartet.report.runtime_figure import lines_of, logarithmic, timed_line
from quartet.results import INTACT, Result, system_name

#: The readings of a model's final layer, and what a name keeps of them.
CONTEXT = {"": "", "context": "", f"{INTACT}/context": INTACT}
#: As many lengths have room for their numbers on one axis.
FEW = 8
SIZE = (5.8, 3.5)  # inches: about half of the page, so that text of 10 points stays readable
PAIRS = (("transformer-xl", "segatron-xl"), ("bert-", "segabert"))


def draw(
    folder: Path,
    training: Mapping[str, Points],
    weights: Mapping[tuple[str, str, str], Points],
    results: Iterable[Result],
    facts: RunFacts,
) -> dict[str, bool]:
    """Draw <key>.svg for each of `tables.PICTURES` but the times; whether there was anything to draw, by key.

    Args:
        folder: where the files go.
        training: by model, (step, nats per predicted token).
        weights: by (lists, split, system), (weight, WER in % or BLEU).
        results: of the experiment.
        facts: the order and colours of the models.
    """
    report = Report(Cells(results), facts)
    with style():
        figures = {
            "overview-sts": _similarity(report),
            "overview-weights": _weights(report, weights),
            "overview-segments": _segments(report, training),
            "overview-lengths": _lengths(report),
        }
        return {key: _saved(figure, folder / f"{key}.svg") for key, figure in figures.items()}


def draw_times(path: Path, timings: Iterable[Result], facts: RunFacts) -> bool:
    """Draw the picture of the page of times; whether there was anything to draw."""
    report = Report(Cells(row for row in timings if row.table == runtime.TABLE), facts)
    with style():
        return _saved(_times(report), path)


def _saved(figure: Figure | None, path: Path) -> bool:
    if figure is None:
        return False
    save(figure, path)
    return True


def _similarity(report: Report) -> Figure | None:
    """Final layers and word vectors on the first set that stands beside Table 3; the paper's where it is the same."""
    series = next(iter(tta.stsb(report)), None)
    if series is None:
        return None
    names = [name for name in series.ours if report.reading(name) in CONTEXT]
    figure, axis = _panel()
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
        axis.plot([], [], marker="d", markeredgecolor=GREY, label="the paper", **HOLLOW)
    axis.set_yticks(
        range(len(names)), [system_name(report.model(name), CONTEXT[report.reading(name)]) for name in names]
    )
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.axvline(0, color=GREY, linewidth=0.8)
    n = next(iter(series.ours.values())).n
    axis.set_xlabel(f"{series.ours_on.replace('`', '')} ({n:,} pairs)")
    shared_legend(figure, [axis], 2)
    return figure


def _weights(report: Report, weights: Mapping[tuple[str, str, str], Points]) -> Figure | None:
    """The test split of the first set of lists."""
    lists = sorted(
        {key[0] for key in weights if key[1] == "test"}, key=lambda name: set_rank(name, report.facts)
    )
    if not lists:
        return None
    figure, axis = _panel()
    curves = {key[2]: points for key, points in weights.items() if key[:2] == (lists[0], "test") and points}
    wer_panel(axis, curves, report, lists[0], "test")
    axis.set_title(f"{lists[0]}, test")
    axis.set_xlabel("weight λ of the language model")
    shared_legend(figure, [axis], 3)
    return figure


def _times(report: Report) -> Figure | None:
    """Milliseconds for a sentence vector on the processor, or on the GPU where there is nothing else."""
    for device, split in runtime.SPLITS.items():
        lengths = runtime.word_counts(report, split)
        points = {
            system: timed
            for system, timed in lines_of(report, "sts", device).items()
            if report.facts.model(report.model(system))
        }
        if points:
            figure, axis = _panel()
            for name in report.sorted(points):
                timed_line(axis, points[name], name, report)
            axis.set_ylabel("milliseconds")
            axis.set_xlabel(f"words in the sentence, {'GPU' if device == 'cuda' else 'processor'}")
            logarithmic([axis], list(lengths), FEW)
            shared_legend(figure, [axis], 3)
            return figure
    return None


def _segments(report: Report, training: Mapping[str, Points]) -> Figure | None:
    """The two pairs of models that differ in segments alone, a panel each."""
    pairs = [pair for pair in PAIRS if all(training.get(name) for name in pair)]
    if not pairs:
        return None
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots(1, len(pairs), squeeze=False).ravel()
    for axis, pair in zip(axes, pairs, strict=True):
        for name in pair:
            line(axis, training[name], name, report.facts)
        axis.set_xlabel("training step")
        axis.xaxis.set_major_locator(MaxNLocator(4))
    axes[0].set_ylabel("nats per predicted token")
    shared_legend(figure, axes, 4)
    return figure


def _lengths(report: Report) -> Figure | None:
    """Perplexity by the tokens of a window, of the models that were measured so, on the first corpus."""
    found = [group for group in report.groups(segatron.INPUT_LENGTH) if group[1].endswith(segatron.TOKENS)]
    curves: dict[str, list[tuple[float, float]]] = {}
    for dataset, split in found:
        if dataset == found[0][0]:
            for name, cell in report.figures(segatron.INPUT_LENGTH, dataset, split, "ppl").items():
                curves.setdefault(name, []).append((float(split.removesuffix(segatron.TOKENS)), cell.value))
    if not curves:
        return None
    figure, axis = _panel()
    for name in report.sorted(curves):
        line(axis, curves[name], name, report.facts)
    axis.set_xlabel(f"tokens of an input, {found[0][0]}")
    axis.set_ylabel("perplexity")
    shared_legend(figure, [axis], 3)
    return figure


def _panel() -> tuple[Figure, Axes]:
    figure = Figure(figsize=SIZE, layout="constrained")
    return figure, figure.subplots()
