"""One function over a stream, on all cores: results in their order, few items on the way, errors in their place."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from quartet.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 3.0
"""Seconds of this process's work before others are started: each spends about two on loading its libraries."""

AHEAD = 3
"""Items on their way for each process: what the memory holds, and what keeps a process from waiting."""

ONE_CORE = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
"""The environment of each process: it is one of many, so its libraries start no threads of their own."""


def cores() -> int:
    """How many this process may run on."""
    return len(os.sched_getaffinity(0))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int = 0) -> Generator[Result]:
    """Yield `work(item)` of each item, in the order of the items, whatever the number of processes.

    The first items are worked on here. If that takes longer than PATIENCE, processes are started (spawned, so threads
    of this one do no harm; a script that calls this needs its ``if __name__ == "__main__":``), and AHEAD items for each
    are read ahead. They end when the iterator is closed, and when this process dies.

    Args:
        work: does its part without a look at other items; must be picklable, as items and results must.
        items: read in this process, and no further than the memory of the items on the way allows.
        workers: how many processes work; 0: one a core; 1: this one alone.

    Raises:
        InputError: as `work` raises it, or a process was killed.
        Exception: what `work` or `items` raises, after the results of all items before it.
    """
    source = iter(items)
    count = workers or cores()
    begun = time.process_time()
    for item in source:
        yield work(item)
        if count > 1 and time.process_time() - begun >= PATIENCE:
            yield from _on_processes(work, source, count)
            return


def _on_processes(work: Callable[[Item], Result], source: Iterator[Item], count: int) -> Generator[Result]:
    waiting: deque[Future[tuple[Any, tuple[str, str, str] | None]]] = deque()
    ended = False
    failure: Exception | None = None
    with _processes(work, count) as pool:
        while True:
            while not ended and len(waiting) < AHEAD * count:
                try:
                    waiting.append(pool.submit(_run, next(source)))
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


def _run(item: Any) -> tuple[Any, tuple[str, str, str] | None]:
    """The result; or a user's mistake in its parts, for exceptions with several arguments cannot be pickled."""
    try:
        return _work(item), None
    except InputError as error:
        return None, (error.place, error.reason, error.remedy)
