"""Every reader of users' files, fed with anything: a second each, or as long as QUARTET_FUZZ_SECONDS says."""

from __future__ import annotations

import pytest

from tests.reliability.fuzzing import SECONDS, fuzz
from tests.reliability.targets import every_name, targets


@pytest.mark.parametrize("name", every_name())
def test_anything_is_read_or_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    tally = fuzz(targets()[name], SECONDS or 1.0)
    assert tally.inputs == tally.read + tally.refused > 0
    with capsys.disabled():
        if SECONDS:
            print(f"{name:<24}{tally}")
