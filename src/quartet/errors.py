"""The one exception that a user's mistake raises: a place, a reason and a remedy in one line."""

from __future__ import annotations


class InputError(ValueError):
    """Something outside the program is wrong: a file, a setting or an argument.

    Args:
        place: the file, key, line or utterance that is at fault, e.g. ``"params.yaml: models.tta.layers"``.
        reason: what is wrong with it.
        remedy: what to do about it (may be empty where the reason says it all).

    The entry points (stages and the ``quartet`` command) print ``str(error)`` and exit with code 2.
    """

    def __init__(self, place: object, reason: str, remedy: str = "") -> None:
        self.place = str(place)
        self.reason = reason
        self.remedy = remedy
        text = f"{self.place}: {reason}" + (f"; {remedy}" if remedy else "")
        super().__init__(" ".join(text.split()))
