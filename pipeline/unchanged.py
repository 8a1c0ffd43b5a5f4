"""Files of the user's that a stage reads for a while, and that must be the same at its end.

DVC notes the hash of an input when the stage has ended. What is stored would else count as made from files that came
while the stage ran, for good.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from quartet.errors import InputError


class Inputs:
    """The files of a stage as they are at its start.

    Args:
        places: files and folders; of a folder every file below it counts.
    """

    def __init__(self, places: Iterable[Path]) -> None:
        self._places = tuple(places)
        self._before = self._state()

    def check(self) -> None:
        """Compare them with what is there now.

        Raises:
            InputError: one has been changed, added or removed.
        """
        now = self._state()
        for path in sorted({*self._before, *now}):
            if self._before.get(path) != now.get(path):
                raise InputError(path, "changed while the stage read it", "run `dvc repro` again")

    def _state(self) -> dict[Path, tuple[int, int, int]]:
        found = {}
        for place in self._places:
            for path in [place, *place.rglob("*")]:
                if path.is_file():
                    facts = path.stat()
                    found[path] = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        return found
