"""The work of `parallel.in_order` on a Dask cluster, whose workers may be on many machines.

Dask decides which worker gets an item, and gives it to another where one is lost. The work itself, such as a tokenizer,
is a plugin: every worker has it, those that join later too.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from distributed import Client, Future, KilledWorker, WorkerPlugin, get_worker
from distributed.comm import CommClosedError

from quartet.errors import InputError
from quartet.text.parallel import AHEAD, ONE_CORE, WorkOutcome, attempt, results_in_order
from quartet.text.resumable_work import code_and_libraries

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 60.0
"""Seconds that a scheduler has for its answer, and a cluster without workers for its first."""

LOOK_SECONDS = 5.0
"""How often the workers are counted: some may come or go."""


def on_cluster(work: Callable[[Item], Result], source: Iterator[Item], scheduler: str) -> Generator[Result]:
    """As `parallel.in_order`, all of it on the cluster whose scheduler is at `scheduler`.

    AHEAD items for each thread of the workers are on their way. A worker works on one item at a time.

    Raises:
        InputError: the cluster cannot be reached, has no worker, is lost, or loses a worker with each try of an item;
            or a worker has other versions of Quartet or its libraries than this process.
    """
    name = f"quartet-{uuid4()}"
    with _connected(scheduler) as client:
        crew = _Crew(client, scheduler)
        try:
            client.register_plugin(_WorkPlugin(work), name=name)
        except (
            Exception
        ) as error:  # whatever keeps a worker from taking it: no Quartet, another version of it
            raise InputError(
                scheduler,
                f"a worker cannot take the work ({type(error).__name__}: {error})",
                "install the same versions of Quartet and its libraries on all machines",
            ) from error

        def submit(item: Item) -> _PendingItem:
            return _PendingItem(client.submit(_run, name, item, pure=False), crew)

        try:
            yield from results_in_order(submit, source, lambda: AHEAD * crew.threads())
        finally:
            with suppress(Exception):  # the cluster may be gone
                client.unregister_worker_plugin(name)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:  # ValueError: it is no address
        raise InputError(
            scheduler, f"no Dask scheduler answers ({error})", "start one there, or correct the address"
        ) from error
    with client:
        yield client


class _Crew:
    """The workers of a cluster, counted now and then."""

    def __init__(self, client: Client, scheduler: str) -> None:
        self._client, self.scheduler = client, scheduler
        self._threads, self._looked = 0, -LOOK_SECONDS

    def threads(self) -> int:
        """Of all workers, at least 1.

        Raises:
            InputError: there is no worker, and none comes.
        """
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            try:
                self._client.wait_for_workers(1, timeout=PATIENCE)
                self._threads = sum(self._client.nthreads().values())
            except TimeoutError as error:
                raise InputError(self.scheduler, "the Dask cluster has no workers", "start some") from error
            except OSError as error:
                raise _lost(self.scheduler) from error
            self._looked = time.monotonic()
        return max(1, self._threads)


@dataclass(frozen=True)
class _PendingItem:
    """An item on its way."""

    future: Future
    crew: _Crew

    def result(self) -> WorkOutcome:
        """What comes of it; a cluster that lost all its workers is not waited for without end."""
        while True:
            try:
                outcome: WorkOutcome = self.future.result(timeout=LOOK_SECONDS)
                return outcome
            except TimeoutError:
                self.crew.threads()
            except KilledWorker as error:
                raise InputError(
                    self.crew.scheduler,
                    "several workers ended at the same part of the text (killed, or out of memory)",
                    "give them more memory, and run it again",
                ) from error
            except (CancelledError, CommClosedError) as error:
                raise _lost(self.crew.scheduler) from error


def _lost(scheduler: str) -> InputError:
    return InputError(
        scheduler,
        "the Dask scheduler ended, or cannot be reached any more",
        "start it again, and run this again",
    )


# -- on the workers ------------------------------------------------------------------------------------------------


class _WorkPlugin(WorkerPlugin):  # type: ignore[misc]
    """The work, sent once to each worker."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.made_with = code_and_libraries()

    def setup(self, worker: Any) -> None:
        """What a worker does when it gets the work."""
        os.environ.update(ONE_CORE)
        self.one_at_a_time = threading.Lock()  # the work remembers things, and is not made for threads
        self.alike = code_and_libraries() == self.made_with


def _run(name: str, item: Any) -> WorkOutcome:
    worker = get_worker()
    plugin = worker.plugins[name]
    if not plugin.alike:
        reason = "this Dask worker has other versions of Quartet, Python or the libraries"
        return None, (worker.address, reason, "install the same on all machines")
    with plugin.one_at_a_time:
        return attempt(plugin.work, item)
