"""The one exception that a user's mistake raises: a place, a reason and a remedy in one line."""

from __future__ import annotations

import errno

#: The exit code for a user's mistake, of stages and of the ``quartet`` command alike.
USER_ERROR = 2

#: Errors of the system that are nobody's bug, with what to do about them.
_SYSTEM: dict[int | None, str] = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EROFS: "write somewhere else, or make it writable",
    errno.EACCES: "check the rights of the file and its folder",
}


def system_error(error: OSError) -> InputError | None:
    """A full disk, a read-only folder or missing rights as a user's error; None for any other error of the system."""
    if error.errno not in _SYSTEM:
        return None
    return InputError(error.filename or "the output folder", str(error.strerror), _SYSTEM[error.errno])


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
