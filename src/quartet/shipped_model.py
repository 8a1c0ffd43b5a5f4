"""The trained T-TA that comes with Quartet, for people who only rescore."""

from __future__ import annotations

from pathlib import Path

from quartet.errors import InputError

#: In a clone, or an installation that is editable: beside src/. What it is: weights/README.md.
WEIGHTS = Path(__file__).resolve().parents[2] / "weights" / "tta-books"


def model_or_shipped(reference: str | None) -> str:
    """What was given with ``--model``, or the model that comes with Quartet.

    Raises:
        InputError: nothing was given, and this installation comes without a model.
    """
    if reference is not None:
        return reference
    if not WEIGHTS.is_dir():
        raise InputError("--model", "is missing, and this installation comes without a model", "name one")
    return str(WEIGHTS)
