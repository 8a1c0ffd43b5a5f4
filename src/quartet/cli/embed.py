"""`quartet embed`: vectors of sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, get_args

import typer

from quartet.cli.options import (
    DeviceOption,
    IntactOption,
    ModelOption,
    PrecisionOption,
    TextsArgument,
    check_scoring,
    lines_of_input,
)
from quartet.errors import InputError


def embed(
    model: ModelOption,
    texts: TextsArgument = Path("-"),
    device: DeviceOption = "cpu",
    precision: PrecisionOption = "fp32",
    intact: IntactOption = False,
    layer: Annotated[
        str,
        typer.Option(
            help="The mean over a text's tokens of context (last layer), embed (embedding layer) or table (bare "
            "table); or the last layer at the special token before (first) or behind (last) the text."
        ),
    ] = "context",
) -> None:
    """Print a vector for each line of a text, as a JSON list."""
    import quartet
    from quartet.ngram.score import NgramLM
    from quartet.scoring.network_reader import Layer

    if layer not in get_args(Layer):
        raise InputError("--layer", f"{layer!r} is none of {', '.join(get_args(Layer))}")

    check_scoring(texts, model)
    opened = quartet.load(model, device, precision=precision)
    if isinstance(opened, NgramLM):
        raise InputError(model, "an n-gram model has no vectors", "give another model")
    if layer not in opened.layers:
        raise InputError(
            "--layer",
            f"{layer} of this model is the same for every text",
            f"choose one of {', '.join(opened.layers)}",
        )
    vectors = opened.embed(lines_of_input(texts), layer, masked=not intact)
    for vector in vectors:
        print(json.dumps([round(float(value), 6) for value in vector]))
