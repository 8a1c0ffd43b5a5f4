"""Batches that a thread makes ahead come in their order, and what goes wrong there is told to whoever asks."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from quartet.training.loader import Loader


@dataclass(frozen=True)
class Item:
    number: int
    pinned: bool = False

    def pin_memory(self) -> Item:
        return Item(self.number, True)


def items(count: int | None, made: list[int], fails_at: int | None = None) -> Iterator[Item]:
    for number in itertools.count() if count is None else range(count):
        if number == fails_at:
            raise ValueError("no more")
        made.append(number)
        yield Item(number)


@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_all_come_in_their_order(ahead: int) -> None:
    made: list[int] = []
    assert list(Loader(items(7, made), ahead)) == [Item(number, ahead > 0) for number in range(7)]


def test_so_many_are_made_ahead_and_no_more() -> None:
    """Of the endless: 3 lie ready, and one waits for its place."""
    made: list[int] = []
    loaded = iter(Loader(items(None, made), 3))
    assert next(loaded) == Item(0, True)
    for _ in range(100):
        if len(made) == 5:
            break
        time.sleep(0.02)
    time.sleep(0.1)
    assert made == [0, 1, 2, 3, 4]


def test_an_error_comes_where_its_item_would_have() -> None:
    made: list[int] = []
    loaded = iter(Loader(items(None, made, fails_at=2), 2))
    assert [next(loaded), next(loaded)] == [Item(0, True), Item(1, True)]
    with pytest.raises(ValueError, match="no more"):
        next(loaded)


def test_the_thread_ends_with_whoever_asked() -> None:
    before = set(threading.enumerate())
    loaded = iter(Loader(items(None, []), 2))
    next(loaded)
    (thread,) = set(threading.enumerate()) - before
    loaded.close()  # type: ignore[attr-defined]
    thread.join(5)
    assert not thread.is_alive()


def test_what_is_waited_for_is_counted() -> None:
    def slow() -> Iterator[Item]:
        for number in range(3):
            time.sleep(0.05)
            yield Item(number)

    loader = Loader(slow(), 0)
    for _ in loader:
        time.sleep(0.05)
    assert 0.15 <= loader.waiting < 0.29, "and the time of those who use them is not"
