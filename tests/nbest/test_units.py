"""Which utterances are resampled together."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.errors import InputError
from quartet.nbest.units import units_of

NAMES = ["1089-134686-0000", "121-121726-0001", "1089-134691-0002"]


@pytest.mark.parametrize(
    ("unit", "name", "of"),
    [
        ("utterance", "utterances", [0, 1, 2]),
        ("speaker", "speakers", [0, 1, 0]),
        (r"-(\d+)-", "groups", [0, 1, 2]),
        (r"(.)$", "groups", [0, 1, 2]),
        (r"^(\d)", "groups", [0, 0, 0]),
    ],
)
def test_the_names_show_the_units(unit: str, name: str, of: list[int]) -> None:
    found = units_of(NAMES, unit)
    assert (found.name, found.of_R.tolist(), found.count) == (name, of, max(of) + 1)


def test_a_part_is_numbered_anew() -> None:
    part = units_of(["a-1", "b-1", "c-1", "b-2"], "speaker").part(np.array([False, True, True, True]))
    assert part.of_R.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("names", "unit", "said"),
    [
        (["u1"], "speaker", 'utterance "u1"'),
        (NAMES, "(", "no regular expression"),
        (NAMES, r"\d+", "one group"),
    ],
)
def test_a_name_that_shows_no_unit_is_refused(names: list[str], unit: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        units_of(names, unit)
    assert said in str(refused.value)
