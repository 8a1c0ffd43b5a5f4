"""Every reader of users' files, fed with anything for a moment; tests/slow has the longer run."""

from __future__ import annotations

import pytest

from tests.reliability.fuzzing import fuzz
from tests.reliability.targets import every_name, targets


@pytest.mark.parametrize("name", every_name())
def test_anything_is_read_or_refused(name: str) -> None:
    tally = fuzz(targets()[name], 0.2)
    assert tally.inputs == tally.read + tally.refused > 0
