"""The memory of a process and of all that it started, looked at while they work."""

from __future__ import annotations

import threading
from types import TracebackType

#: Seconds between two looks.
EVERY = 0.1
MIB = 1 << 20


class Resident:
    """Resident memory in MiB while it is entered: pages that processes share count in each, so sums are upper bounds.

    The kernel's own peak of ended children (`getrusage`) is of no use here: what a child was forked from counts in it.

    Attributes:
        peaks: the largest that any look found since the last :meth:`taken`: of this process, of the largest below it,
            and of all together.
    """

    def __init__(self) -> None:
        self.peaks: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Resident:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def taken(self) -> dict[str, float]:
        """The peaks until now; those after it are counted anew."""
        self._look()
        peaks, self.peaks = self.peaks, {}
        return peaks

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self._look()

    def _look(self) -> None:
        import psutil

        first = psutil.Process()
        own = first.memory_info().rss / MIB
        others = []
        for process in first.children(recursive=True):
            try:
                others.append(process.memory_info().rss / MIB)
            except psutil.NoSuchProcess:
                continue
        seen = {"this process": own, "the largest other": max(others, default=0.0), "all": own + sum(others)}
        for whose, size in seen.items():
            self.peaks[whose] = max(size, self.peaks.get(whose, 0.0))
