"""An evaluation at work: what it is told beside its models and its sets, and the rows that it finds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from quartet.results import EvaluatedSystem, Measure, Result
from quartet.statistics.outcomes import Outcomes

logger = logging.getLogger(__name__)

Item = TypeVar("Item")


class ProgressDisplay(Protocol):
    """Shows how far a long step is."""

    def set(self, done: float, total: float | None = None) -> None: ...

    def advance(self, by: float = 1) -> None: ...


class _NoDisplay:
    def set(self, done: float, total: float | None = None) -> None:
        pass

    def advance(self, by: float = 1) -> None:
        pass


class Evaluation:
    """Collects the rows of an evaluation; the `evaluate` of each task is given one.

    The pipeline's has a display and writes the rows; by itself this one is silent, for a notebook:

    >>> run = Evaluation("notebook", "sts", samples=1000, seed=1)
    >>> run.add({"pearson": Measure(0.5, 100)}, EvaluatedSystem("tta", "cpu", "3 layers"), "stsb")
    >>> [(row.system, row.metric, row.value) for row in run.rows]
    [('tta', 'pearson', 0.5)]

    Attributes:
        experiment: named in every row.
        table: of the results, for rows of which none is said.
        samples: resamplings behind each interval.
        seed: of what is resampled for systems without a seed, and of what all systems share, such as folds.
        rows: what was found so far.
        outcomes: what the systems made of each item.
    """

    def __init__(self, experiment: str, table: str, *, samples: int, seed: int) -> None:
        self.experiment = experiment
        self.table = table
        self.samples = samples
        self.seed = seed
        self.rows: list[Result] = []
        self.outcomes: list[Outcomes] = []

    def seed_of(self, system: EvaluatedSystem) -> int:
        """The seed of what is resampled for a system: that of its training, where it has one."""
        return self.seed if system.seed is None else system.seed

    def add(
        self,
        measures: Mapping[str, Measure],
        system: EvaluatedSystem,
        dataset: str,
        split: str = "test",
        table: str | None = None,
    ) -> None:
        """Add a row for each measure, by its metric."""
        self.rows += system.rows(
            measures, experiment=self.experiment, table=table or self.table, dataset=dataset, split=split
        )

    def keep(
        self,
        metrics: tuple[str, ...],
        values: Sequence[float] | NDArray[Any],
        system: EvaluatedSystem,
        dataset: str,
        split: str = "test",
        table: str | None = None,
        *,
        unit: str,
        units: Sequence[Sequence[int] | NDArray[Any]] = (),
        **columns: Sequence[float] | NDArray[Any],
    ) -> None:
        """Keep what a system made of each item, from which its differences to other systems are computed.

        Args:
            values, unit, units, columns: see :class:`quartet.statistics.outcomes.Outcomes`.
        """
        self.outcomes.append(
            Outcomes(
                table=table or self.table,
                dataset=dataset,
                split=split,
                model=system.model,
                reading=system.reading,
                seed=system.seed,
                metrics=metrics,
                values=_plain(np.asarray(values, dtype=np.float64)),
                unit=unit,
                units=tuple(map(_plain, units)),
                **{name: _plain(column) for name, column in columns.items()},
            )
        )

    def say(self, line: str) -> None:
        """Report one line on what was done."""
        logger.info(line)

    def bar(self, label: str, total: float | None = None) -> AbstractContextManager[ProgressDisplay]:
        """Show progress during a block."""
        return nullcontext(_NoDisplay())

    def track(self, items: Iterable[Item], label: str, total: float | None = None) -> Iterator[Item]:
        """Yield the items, showing how many went by."""
        with self.bar(label, total) as shown:
            for item in items:
                yield item
                shown.advance()


def _plain(column: Sequence[float] | NDArray[Any]) -> tuple[Any, ...]:
    """Numbers of Python's."""
    return tuple(np.asarray(column).tolist())
