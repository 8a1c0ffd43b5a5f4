"""Attention heat maps with the boundaries of sentences and paragraphs (Bai et al. 2021, Figures 5-8)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from quartet.report.drawing import WIDTH, save, style
from quartet.tasks.attention.maps import DocumentAttention

#: Boundaries have a colour that stands out from all colours of the map.
PARAGRAPH: dict[str, Any] = {"color": "#FF7F2A", "linewidth": 1.6, "linestyle": "-"}
SENTENCE: dict[str, Any] = {"color": "#FF7F2A", "linewidth": 0.9, "linestyle": (0, (2, 2))}
#: The colours end at this share of all weights, so that a few peaks do not darken the rest.
CEILING = 0.995


def attention_maps(path: str | Path, articles: Mapping[str, DocumentAttention], columns: int = 2) -> bool:
    """A panel a model and layer: rows are queries, columns keys, from the first token on.

    Args:
        path: the file to write; its suffix says what kind.
        articles: by model, with the weights of the layers to draw.
        columns: panels side by side.
    """
    panels = [
        (name, layer, article) for name, article in articles.items() for layer in sorted(article.weights_TT)
    ]
    if not panels:
        return False
    rows = -(-len(panels) // columns)
    with style():
        figure = Figure(figsize=(WIDTH, 3.9 * rows + 0.4), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        for axis, (name, layer, article) in zip(axes, panels, strict=False):
            _panel(figure, axis, article, layer)
            axis.set_title(f"{name}, layer {layer}")
        lines = [
            Line2D([], [], label="a paragraph begins", **PARAGRAPH),
            Line2D([], [], label="a sentence begins", **SENTENCE),
        ]
        figure.legend(handles=lines, loc="outside lower center", ncols=2)
        save(figure, path)
    return True


def _panel(figure: Figure, axis: Axes, article: DocumentAttention, layer: int) -> None:
    weights_TT = np.where(article.allowed_TT, article.weights_TT[layer], np.nan)
    top = float(np.nanquantile(weights_TT, CEILING))
    picture = axis.imshow(weights_TT, cmap="cividis", vmin=0, vmax=top or 1, interpolation="nearest")
    axis.set_facecolor("#E8E8E8")  # what a query may not see
    size = len(article.own_T)
    for numbers, line in ((article.sentences_T, SENTENCE), (article.paragraphs_T, PARAGRAPH)):
        for place in np.flatnonzero(np.diff(numbers)) + 0.5:
            axis.axhline(place, **line)
            axis.axvline(place, **line)
    axis.grid(visible=False)
    axis.set_xlim(-0.5, size - 0.5)
    axis.set_ylim(size - 0.5, -0.5)
    axis.set_xlabel("key: the token attended to")
    axis.set_ylabel("query: the token that attends")
    figure.colorbar(picture, ax=axis, extend="max", shrink=0.8, label="attention probability")
