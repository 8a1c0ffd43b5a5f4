"""Heat maps of attention on an article (Bai et al. 2021, Figures 5-8). What all pictures keep to: `figures.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from quartet.report.drawing import WIDTH, PictureData
from quartet.report.spec import PictureSpec
from quartet.tasks.attention.maps import DocumentAttention

#: Boundaries have a colour that stands out from all colours of the map.
PARAGRAPH: dict[str, Any] = {"color": "#FF7F2A", "linewidth": 1.6, "linestyle": "-"}
SENTENCE: dict[str, Any] = {"color": "#FF7F2A", "linewidth": 0.9, "linestyle": (0, (2, 2))}
#: The maps' colours end at this share of all weights, so that a few peaks do not darken the rest.
CEILING = 0.995
#: Maps side by side.
COLUMNS = 2


def maps(data: PictureData, _: str, spec: PictureSpec) -> Figure | None:
    """A panel a model and layer: rows are queries, columns keys, from the first token on."""
    panels = [
        (name, layer, article) for name, article in data.maps.items() for layer in sorted(article.weights_TT)
    ]
    if not panels:
        return None
    rows = -(-len(panels) // COLUMNS)
    figure = Figure(figsize=(WIDTH, 3.9 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, (name, layer, article) in zip(axes, panels, strict=False):
        _panel(figure, axis, article, layer)
        axis.set_title(f"{name}, layer {layer}")
    lines = [
        Line2D([], [], label="a paragraph begins", **PARAGRAPH),
        Line2D([], [], label="a sentence begins", **SENTENCE),
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=spec.legend)
    return figure


def _panel(figure: Figure, axis: Axes, article: DocumentAttention, layer: int) -> None:
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
