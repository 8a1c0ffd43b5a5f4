"""`quartet embed`: vectors of sentences."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from quartet.cli.options import Device, Intact, Model, lines_of_input
from quartet.errors import InputError


def embed(
    model: Model,
    device: Device = "cpu",
    intact: Intact = False,
    layer: Annotated[str, typer.Option(help="context (last layer) or embed (embedding layer).")] = "context",
) -> None:
    """Print a vector for each line of standard input, as a JSON list: the mean over its tokens."""
    if layer not in ("context", "embed"):
        raise InputError("--layer", f"{layer!r} is neither context nor embed")
    import quartet

    vectors = quartet.load(model, device).embed(lines_of_input(), layer, masked=not intact)  # type: ignore[arg-type]
    for vector in vectors:
        print(json.dumps([round(float(value), 6) for value in vector]))
