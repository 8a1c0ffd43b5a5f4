"""What is resampled of a set of lists: its utterances, or groups of them that their names show.

Utterances of one speaker are alike: where a set has few speakers, an interval over utterances is too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quartet.config.nbest import UTTERANCE, unit_pattern
from quartet.errors import InputError


@dataclass(frozen=True)
class ResampledUnits:
    """The units of R utterances.

    Attributes:
        name: what they are called: ``utterances``, ``speakers`` or ``groups``.
        of_R: (R,) the unit of each, numbered from 0.
    """

    name: str
    of_R: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.of_R.max()) + 1 if len(self.of_R) else 0

    def part(self, inside: NDArray[np.bool_]) -> ResampledUnits:
        """Those of some of the utterances (R,)."""
        return ResampledUnits(self.name, np.unique(self.of_R[inside], return_inverse=True)[1])


def units_of(names: Sequence[str], unit: str = UTTERANCE) -> ResampledUnits:
    """The units of utterances of these names.

    Args:
        unit: ``utterance``, ``speaker`` or a pattern, see `quartet.config.nbest.NBestEntry`.

    Raises:
        InputError: a name does not match, or the pattern is none with one group.

    >>> units_of(["1089-134686-0000", "1089-134691-0002", "121-121726-0000"], "speaker").of_R.tolist()
    [0, 0, 1]
    """
    if unit == UTTERANCE:
        return ResampledUnits("utterances", np.arange(len(names)))
    try:
        pattern = unit_pattern(unit)
    except ValueError as error:
        raise InputError("unit", str(error)) from error
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        match = pattern.search(name)
        if match is None or match[1] is None:
            raise InputError(
                f'utterance "{name}"',
                f"its name does not show its unit, {unit}: {pattern.pattern} finds nothing in it",
                f"give a pattern of the names with one group, or the unit {UTTERANCE}",
            )
        found.append(numbers.setdefault(match[1], len(numbers)))
    return ResampledUnits("speakers" if unit == "speaker" else "groups", np.array(found, dtype=np.int64))
