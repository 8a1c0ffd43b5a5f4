"""What a choice among hypotheses is judged by: figures of a corpus that follow from sums over its lists.

Each hypothesis has a row of counts against its reference (word errors and words; matched and possible n-grams),
made once. The figure of any choice, of every weight and of every resample of a bootstrap, is a function of the
sum of the chosen rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from quartet.nbest.types import NBest
from quartet.statistics.intervals import Floats

Counts = NDArray[np.int64]

#: The column of counts that holds the reference's length, of every metric.
REFERENCE = 1


class Metric(Protocol):
    """A figure of a corpus.

    Attributes:
        name: its word in the results.
        better: the sign of a change for the better.
        columns: S, how many counts a hypothesis has.
    """

    @property
    def name(self) -> str: ...
    @property
    def better(self) -> int: ...
    @property
    def columns(self) -> int: ...

    def counts(self, reference: str, hypotheses: Sequence[str]) -> Counts:
        """(N, S) counts of hypotheses against one reference."""
        ...

    def corpus(self, totals: Counts | Floats) -> Floats:
        """(B,) figures from (B, S) sums of counts, in the unit of the report."""
        ...

    def merit(self, counts: Counts) -> Floats:
        """(N,) how good each hypothesis is by itself, larger is better: what the oracle picks by."""
        ...


@dataclass(frozen=True)
class CountTable:
    """The counts of a whole set of U lists with H hypotheses, flat.

    Attributes:
        metric: whose counts they are.
        offsets: (U + 1,) the hypotheses of list u are offsets[u] to offsets[u + 1].
        counts: (H, S); zeros where the list has no reference.
        merit: (H,) what the oracle picks by; zeros where the list has no reference.
        referenced: (U,) True where the list has a reference. The others are left out of every figure.
    """

    metric: Metric
    offsets: NDArray[np.int64]
    counts: Counts
    merit: Floats
    referenced: NDArray[np.bool_]

    @classmethod
    def of(cls, lists: Iterable[NBest], metric: Metric) -> CountTable:
        """Hold every hypothesis of the lists against its reference."""
        offsets, counts, merit, referenced = [0], [], [], []
        for one in lists:
            size = len(one.hypotheses)
            found = np.zeros((size, metric.columns), dtype=np.int64)
            merits = np.zeros(size)
            if one.reference is not None:
                found = metric.counts(one.reference, [each.text for each in one.hypotheses])
                merits = metric.merit(found)
            counts.append(found)
            merit.append(merits)
            referenced.append(one.reference is not None)
            offsets.append(offsets[-1] + size)
        return cls(
            metric,
            np.array(offsets, dtype=np.int64),
            np.concatenate(counts) if counts else np.zeros((0, metric.columns), dtype=np.int64),
            np.concatenate(merit) if merit else np.zeros(0),
            np.array(referenced, dtype=np.bool_),
        )
