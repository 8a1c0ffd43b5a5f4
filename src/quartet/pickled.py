"""Models whose libraries cannot be pickled: a pickle names their place and what they were, and is opened from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quartet.errors import InputError


def reopened(place: Path, fingerprint: str, seed: int) -> Any:
    """The scorer at a place, as `quartet.load` opens it.

    Args:
        place: a folder or file, absolute.
        fingerprint: of the scorer that was pickled.

    Raises:
        InputError: it is not there, or another one.
    """
    import quartet

    found = quartet.load(place)
    if found.fingerprint != fingerprint:
        raise InputError(
            place,
            "is no longer the model that was pickled, or its library has another version",
            "load it again",
        )
    if found.seed != seed:
        found.seed = seed  # type: ignore[misc]  # of n-gram models, whose callers choose it
    return found
