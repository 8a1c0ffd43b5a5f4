"""One function over a stream, on all cores or a cluster: results in their order, few items on the way, errors too."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar

from quartet.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

WorkOutcome: TypeAlias = tuple[Any, tuple[str, str, str] | None]
"""A result; or a user's mistake in its parts, for exceptions with several arguments cannot be pickled."""

PATIENCE = 3.0
"""Seconds of this process's work before others are started: each spends about two on loading its libraries."""

AHEAD = 3
"""Items on their way for each process: what the memory holds, and what keeps a process from waiting."""

ONE_CORE = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
"""The environment of each process: it is one of many, so its libraries start no threads of their own."""


def cores() -> int:
    """How many this process may run on."""
    return len(os.sched_getaffinity(0))


class _Promise(Protocol):
    """What a submitted item gives back: a future of `concurrent.futures` or of Dask."""

    def result(self) -> Any: ...


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int = 0, scheduler: str | None = None
) -> Generator[Result]:
    """Yield `work(item)` of each item, in the order of the items, whoever works on them.

    The first items are worked on here. If that takes longer than PATIENCE, processes are started (spawned, so threads
    of this one do no harm; a script that calls this needs its ``if __name__ == "__main__":``), and AHEAD items for each
    are read ahead. They end when the iterator is closed, and when this process dies. Or a Dask cluster does all of it.

    Args:
        work: does its part without a look at other items; must be picklable, as items and results must.
        items: read in this process, and no further than the memory of the items on the way allows.
        workers: how many processes work; 0: one a core; 1: this one alone.
        scheduler: the address of a Dask cluster's, such as ``tcp://node0:8786``; `workers` then means nothing.

    Raises:
        InputError: as `work` raises it, a process was killed, or the cluster cannot be had.
        Exception: what `work` or `items` raises, after the results of all items before it.
    """
    source = iter(items)
    if scheduler is not None:
        yield from _on_cluster(work, source, scheduler)
        return
    count = workers or cores()
    begun = time.process_time()
    for item in source:
        yield work(item)
        if count > 1 and time.process_time() - begun >= PATIENCE:
            yield from _on_processes(work, source, count)
            return


def _on_processes(work: Callable[[Item], Result], source: Iterator[Item], count: int) -> Generator[Result]:
    with _processes(work, count) as pool:
        yield from results_in_order(lambda item: pool.submit(_run, item), source, lambda: AHEAD * count)


def _on_cluster(work: Callable[[Item], Result], source: Iterator[Item], scheduler: str) -> Generator[Result]:
    try:
        from quartet.text.cluster import on_cluster
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        raise InputError(
            scheduler,
            "is a Dask cluster's, and Dask is not installed",
            "in Quartet's folder run `pip install -e '.[cluster]'`",
        ) from error
    yield from on_cluster(work, source, scheduler)


def results_in_order(
    submit: Callable[[Item], _Promise], source: Iterator[Item], room: Callable[[], int]
) -> Generator[Any]:
    """Yield the result of each item in the order of the items.

    Args:
        submit: begins the work on an item, whose `WorkOutcome` is awaited when its turn comes.
        room: how many items may be on their way.

    Raises:
        InputError: a user's mistake that was found at work.
        Exception: what `source` raises, after the results of all items before it; and what a promise raises.
    """
    waiting: deque[_Promise] = deque()
    ended = False
    failure: Exception | None = None
    while True:
        while not ended and len(waiting) < room():
            try:
                waiting.append(submit(next(source)))
            except StopIteration:
                ended = True
            except Exception as error:  # whose turn comes when the items before it are done
                ended, failure = True, error
        if not waiting:
            break
        result, mistake = waiting.popleft().result()
        if mistake is not None:
            raise InputError(*mistake)
        yield result
    if failure is not None:
        raise failure


@contextmanager
def _processes(work: Callable[[Any], Any], count: int) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(work,))
    try:
        yield pool
    except BrokenProcessPool as error:
        raise InputError(
            "one of the processes that share the work",
            "ended before it was done (killed, or out of memory)",
            "free some memory, or use fewer workers",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


# -- in the other processes ---------------------------------------------------------------------------------------


_work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the first process sees to it
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    os.environ.update(ONE_CORE)
    _work = work


def _end_with_the_first() -> None:
    """A killed process says no goodbye to those that it started: they would wait for ever."""
    first = multiprocessing.parent_process()
    assert first is not None
    first.join()
    os._exit(1)


def _run(item: Any) -> WorkOutcome:
    return attempt(_work, item)


def attempt(work: Callable[[Item], Any], item: Item) -> WorkOutcome:
    """What comes of an item, ready to be sent back."""
    try:
        return work(item), None
    except InputError as error:
        return None, (error.place, error.reason, error.remedy)
