"""Batches one after the other, made while a GPU computes the ones before them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

#: Batches that are ready before they are asked for.
AHEAD = 4


class Pinnable(Protocol):
    """What can lie in memory that a GPU reads by itself."""

    def pin_memory(self) -> Any: ...


Item = TypeVar("Item", bound=Pinnable)


class Loader(Generic[Item]):
    """The items of an iterable; with `ahead` a thread makes so many of them before they are asked for, pinned.

    A thread and no process: batches are made by NumPy, which lets other threads run meanwhile.

    Attributes:
        waiting: seconds that were spent on waiting for items so far.
    """

    def __init__(self, items: Iterable[Item], ahead: int) -> None:
        self.items = items
        self.ahead = ahead
        self.waiting = 0.0

    def __iter__(self) -> Iterator[Item]:
        items = _prefetched(self.items, self.ahead) if self.ahead else iter(self.items)
        while True:
            begun = time.perf_counter()
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                self.waiting += time.perf_counter() - begun
            yield item


def _prefetched(items: Iterable[Item], ahead: int) -> Iterator[Item]:
    """Raises what the making of an item raises, in its place."""
    ready: queue.Queue[Item | BaseException | None] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(item: Item | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return ready.put(item, timeout=0.1)
            except queue.Full:
                continue

    def make() -> None:
        try:
            for item in items:
                put(item.pin_memory())
                if stopped.is_set():
                    return
            put(None)
        except BaseException as error:  # whatever it is, who asks for the item is to know
            put(error)

    threading.Thread(target=make, daemon=True).start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
