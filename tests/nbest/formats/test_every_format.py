"""Of every format: round trip, cuts at every byte, changed bytes. An error or a right answer, never a wrong number."""

from __future__ import annotations

import contextlib
import gzip
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quartet.errors import InputError
from quartet.nbest.formats import FORMATS, IngestedLists, read
from quartet.nbest.types import NBest
from tests.nbest.formats.writers import CASES, Case, Fact
from tests.nbest.lists import nbest

assert set(CASES) == set(FORMATS)
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

#: Lists that every format can hold, if it is told that utterances are numbers.
LISTS = [
    ("a b", ("a b", -1.25), ("a é", -12.5)),
    ("", ("c", -0.5), ("", -3e-05)),
    ("d", ("d", 20.0), ("d d", -7.0)),
]


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def small(name: str) -> list[NBest]:
    """A few lists as the format would hold them."""
    case = CASES[name]
    first = 0 if name == "moses" else 1
    return [
        nbest(str(first + index), reference if case.references else None, *hypotheses)
        for index, (reference, *hypotheses) in enumerate(LISTS)
    ]


def read_data(name: str, case: Case, data: dict[str, bytes], skip: bool = False) -> IngestedLists:
    """What is read of numbers that are what they are said to be: random ones look like anything."""
    meaning: Literal["scores", "costs"] = "costs" if name == "kaldi" else "scores"
    with folder() as path:
        files = case.files(path, data)
        try:
            return read(name, files, skip, skip_missing=True, scores_are=meaning)
        except InputError as error:
            if "has no scores that could be" not in error.reason:
                raise
            return read(name, files, skip, skip_missing=True)


def facts_of(lists: list[NBest]) -> Counter[Fact]:
    return Counter((one.utterance, each.text, each.score) for one in lists for each in one.hypotheses)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_written_is_read_back(name: str, packed: bool) -> None:
    case = CASES[name]

    @some
    @given(case.lists())
    def check(lists: list[NBest]) -> None:
        data = case.write(lists)
        if packed:
            data = {part: gzip.compress(content) for part, content in data.items()}
        reading = read_data(name, case, data)
        assert reading.lists == lists
        assert (reading.entries, reading.refused) == (len(lists), ())

    check()


@pytest.mark.parametrize("name", CASES)
def test_a_cut_at_any_byte_is_an_error_or_leaves_what_was_written(name: str) -> None:
    case = CASES[name]
    lists = small(name)
    data = case.write(lists)
    whole = facts_of(lists)
    assert read_data(name, case, data).lists == lists
    for part in data:
        for length in range(len(data[part])):
            cut = {**data, part: data[part][:length]}
            try:
                found = read_data(name, case, cut).lists
            except InputError:
                continue
            assert not case.closed
            assert facts_of(found) <= whole
            assert facts_of(found) == Counter(case.facts(cut))
            assert [one.reference for one in found] == [one.reference for one in lists[: len(found)]]


@pytest.mark.parametrize("name", CASES)
def test_a_cut_of_packed_data_is_an_error(name: str) -> None:
    case = CASES[name]
    data = {part: gzip.compress(content) for part, content in case.write(small(name)).items()}
    for part in data:
        for length in range(len(data[part])):
            with pytest.raises(InputError):
                read_data(name, case, {**data, part: data[part][:length]})


@pytest.mark.parametrize("name", CASES)
def test_changed_bytes_are_an_error_or_read_as_they_stand(name: str) -> None:
    case = CASES[name]
    data = case.write(small(name))

    @settings(some, max_examples=150)
    @given(st.sampled_from(sorted(data)), st.data())
    def check(part: str, drawn: st.DataObject) -> None:
        content = bytearray(data[part])
        for _ in range(drawn.draw(st.integers(1, 3))):
            place = drawn.draw(st.integers(0, len(content) - 1))
            content[place] = drawn.draw(st.integers(0, 255) | st.sampled_from(b"\n\t |-0159.e"))
        changed = {**data, part: bytes(content)}
        with contextlib.suppress(InputError):
            found = read_data(name, case, changed).lists
            assert facts_of(found) == Counter(case.facts(changed))
        try:
            skipped = read_data(name, case, changed, skip=True)
        except InputError:
            return
        assert skipped.entries == len(skipped.lists) + len(skipped.refused)
        assert all("\n" not in str(error) and error.reason for error in skipped.refused)

    check()


def broken(name: str, data: dict[str, bytes]) -> dict[str, bytes]:
    """The data with the score -12.5, of the first list, made no number."""
    part = "costs" if name == "kaldi" else "lists"
    assert data[part].count(b"12.5") == 1
    return {**data, part: data[part].replace(b"12.5", b"1e999")}


@pytest.mark.parametrize("name", CASES)
def test_of_a_malformed_list_nothing_stays_and_of_the_others_all(name: str) -> None:
    case = CASES[name]
    lists = small(name)
    data = broken(name, case.write(lists))
    with pytest.raises(InputError, match="inf"):
        read_data(name, case, data)
    reading = read_data(name, case, data, skip=True)
    assert reading.lists == lists[1:]
    assert (reading.entries, len(reading.refused)) == (3, 1)
