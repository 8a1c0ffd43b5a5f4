"""Every malformed input is refused in one clear line: never a traceback, never a wrong reading, within seconds."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from tests.reliability.malformed import GENERATORS, every_case
from tests.reliability.malformed.case import Case

#: Issue 8 asks for so many.
WANTED = 300
#: Seconds of computing that one may take.
PATIENCE = 8.0


@pytest.mark.parametrize("generator", GENERATORS)
def test_each_is_refused_in_one_clear_line(
    generator: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test a generator, not one a case: pytest spends longer on its own work than most readers do on theirs."""
    failures = []
    for case in every_case(generator):
        folder = tmp_path_factory.mktemp("case")
        monkeypatch.chdir(folder)
        if told := _failure(case, folder):
            failures.append(told)
        assert not (folder / "harm-was-done").exists(), f"{case.id} ran code that came with it"
    assert not failures, "\n".join(failures)


def _failure(case: Case, folder: Path) -> str:
    """What is wrong with how a case was met; empty where it was refused as it should be."""
    begun = time.process_time()
    try:
        case.refusal(folder)
    except Exception as error:  # what a user would have seen as a traceback
        return f"{case.id}: {type(error).__name__}: {error}"
    taken = time.process_time() - begun
    return f"{case.id}: {taken:.0f} s" if taken > PATIENCE else ""


def test_there_are_enough_and_no_two_are_alike() -> None:
    cases = every_case()
    names = Counter(case.id for case in cases)
    digests = Counter(case.digest for case in cases)
    assert [name for name, count in names.items() if count > 1] == []
    assert [case.id for case in cases if digests[case.digest] > 1] == []
    assert len(cases) >= WANTED


def test_a_case_that_is_well_formed_would_be_noticed(tmp_path: Path) -> None:
    whole = Case("params/yaml", "nothing is wrong", {"a": b""}, lambda folder: 7, "")
    with pytest.raises(AssertionError, match="params/yaml: nothing is wrong was read as 7"):
        whole.refusal(tmp_path)
