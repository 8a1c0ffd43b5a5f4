"""Models whose libraries cannot be pickled: a pickle names their place and what they were, and is opened from there."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeVar

from quartet.errors import InputError


class FingerprintedModel(Protocol):
    """What has a fingerprint, equal only for models that give equal scores."""

    @property
    def fingerprint(self) -> str: ...


Model = TypeVar("Model", bound=FingerprintedModel)


def as_pickled(found: Model, place: Path, fingerprint: str) -> Model:
    """What was found at the place of a pickled model.

    Raises:
        InputError: it is another model.
    """
    if found.fingerprint != fingerprint:
        reason = "is no longer the model that was pickled, or its library has another version"
        raise InputError(place, reason, "load it again")
    return found
