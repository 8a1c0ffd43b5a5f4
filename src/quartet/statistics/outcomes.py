"""What a system made of each item of a set, kept so that two systems can be compared on the same items.

Most of the spread of a figure is the items', and common to both systems: their difference has an interval that is much
narrower than either's own.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from quartet.errors import InputError, first_mistake
from quartet.files import read_jsonl, write_jsonl
from quartet.results import Measure
from quartet.statistics.agreement import weighted_f1, weighted_matthews
from quartet.statistics.correlation import pearsons, spearmans
from quartet.statistics.differences import difference_of, replicates_of
from quartet.statistics.intervals import Floats, Ints, Statistic


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """What one system made of P items, and so all that some of its figures are computed from.

    Attributes:
        table, dataset, split, model, reading, seed: those of the figures' :class:`quartet.results.Result`.
        metrics: the figures' names.
        values: (P,) the system's predictions where there is `gold`; else what each item adds to the figure, which is
            the sum of the values by that of the sizes.
        gold: (P,) what the predictions should be, for the metrics of `AGREEMENTS`; or ().
        sizes: (P,), e.g. the tokens of a document; () where each is 1.
        parts: (P,) the part of the set that each item belongs to, where the figure is the mean of the parts'; or ().
        unit: what the items are a sample of: ``passages``, ``pairs``, ...
        units: (M, P) the M units that each item belongs to: an item counts as often as the product of their draws. ()
            where each item is a unit.
        items: (P,) their numbers within the set, ascending, where a system may leave some out; or ().
    """

    table: str
    dataset: str
    split: str
    model: str
    reading: str
    seed: int | None
    metrics: tuple[str, ...]
    values: tuple[float, ...]
    gold: tuple[float, ...] = ()
    sizes: tuple[float, ...] = ()
    parts: tuple[int, ...] = ()
    unit: str
    units: tuple[tuple[int, ...], ...] = ()
    items: tuple[int, ...] = ()

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    def __post_init__(self) -> None:
        columns = [
            column for column in (self.gold, self.sizes, self.parts, self.items, *self.units) if column
        ]
        if not self.values or any(len(column) != len(self.values) for column in columns):
            raise ValueError(
                f"{len(self.values)} values beside {sorted({len(column) for column in columns})}"
            )

    @property
    def drawn(self) -> int:
        """How many units are resampled."""
        return 1 + max(map(max, self.units)) if self.units else len(self.values)

    def on(self, items: set[int]) -> Outcomes:
        """The same of some of the numbered items."""
        kept = [place for place, item in enumerate(self.items) if item in items]
        columns: dict[str, Any] = {
            name: tuple(column[place] for place in kept)
            for name in ("values", "gold", "sizes", "parts", "items")
            if (column := getattr(self, name))
        }
        units = tuple(tuple(column[place] for place in kept) for column in self.units)
        return dataclasses.replace(self, **columns, units=units)

    @property
    def frame(self) -> tuple[object, ...]:
        """All that two outcomes have in common where their figures can be subtracted."""
        place = (self.table, self.dataset, self.split, self.unit)
        return (*place, self.gold, self.sizes, self.parts, self.units, self.items)


def figures(systems: Sequence[Outcomes], metric: str) -> Statistic:
    """A figure of systems that were judged on the same items, of how often each unit was drawn.

    Returns:
        counts (block, U) -> (S, block); NaN where a resample leaves it undefined.
    """
    of = systems[0]
    values_SP = np.array([one.values for one in systems])
    gold_P, sizes_P = np.array(of.gold), np.array(of.sizes or [1.0] * len(of.values))
    parts: list[Ints | slice] = [
        np.flatnonzero(np.equal(of.parts, part)) for part in sorted(set(of.parts))
    ] or [slice(None)]

    def figure(weights: Floats, own: Ints | slice) -> Floats:
        if of.gold:
            agreement = AGREEMENTS[metric.removesuffix("-mean")]
            return agreement(values_SP[:, own], gold_P[own], weights[:, own])
        with np.errstate(invalid="ignore"):
            mean: Floats = weights[:, own] @ values_SP[:, own].T / (weights[:, own] @ sizes_P[own])[:, None]
            return mean

    def statistic(counts: Floats) -> Floats:
        weights = counts
        if of.units:
            weights = np.prod([counts[:, list(units)] for units in of.units], axis=0)
        mean: Floats = np.mean([figure(weights, own) for own in parts], axis=0)
        return mean.T

    return statistic


#: By metric, its figure (block, S) of S systems' predictions (S, P), gold (P,) and weights (block, P).
AGREEMENTS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "pearson": pearsons,
    "spearman": spearmans,
    "f1": weighted_f1,
    "matthews": weighted_matthews,
}


def differences(
    pairs: Sequence[tuple[Sequence[Outcomes], Sequence[Outcomes]]], metric: str, samples: int, seed: int
) -> list[Measure | None]:
    """The first minus the second of each pair, on the items that both judged; None where that is undefined.

    All figures are of the same resamples: see :func:`quartet.statistics.differences.paired_difference`.

    Args:
        pairs: the outcomes of both, one for each training in the order of the seeds; a single one if it has no seeds.
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: the two of a pair are not of the same items.
    """
    aligned = [on_the_same([*ours, *theirs]) for ours, theirs in pairs]
    members: defaultdict[tuple[object, ...], dict[Outcomes, None]] = defaultdict(dict)
    for one in itertools.chain(*aligned):
        members[one.frame][one] = None
    replicates: dict[Outcomes, Floats] = {}
    for systems in map(list, members.values()):
        units, width = systems[0].drawn, len(systems[0].values)
        found = replicates_of(figures(systems, metric), units, samples, seed, width)
        replicates |= zip(systems, found, strict=True)
    return [
        _difference([replicates[one] for one in group], len(ours), group[0], seed) if group else None
        for group, (ours, _) in zip(aligned, pairs, strict=True)
    ]


def _difference(rows: list[Floats], ours: int, of: Outcomes, seed: int) -> Measure | None:
    first, second = np.stack(rows[:ours]), np.stack(rows[ours:])
    if not np.isfinite([*first[:, 0], *second[:, 0]]).all():
        return None
    return difference_of(first, second, of.drawn, n=len(of.values), unit=of.unit, seed=seed)


def on_the_same(outcomes: Sequence[Outcomes]) -> list[Outcomes]:
    """The same of the items that all of them judged; empty where there are none.

    Raises:
        ValueError: they are not of one set of items.
    """
    if len({one.items for one in outcomes}) > 1:
        common = set[int].intersection(*(set(one.items) for one in outcomes))
        outcomes = [one.on(common) for one in outcomes] if common else []
    if len({one.frame for one in outcomes}) > 1:
        systems = " and ".join(dict.fromkeys(one.model for one in outcomes))
        raise ValueError(f"{systems} were not judged on the same items of {outcomes[0].dataset}")
    return list(outcomes)


_OUTCOMES: TypeAdapter[Outcomes] = TypeAdapter(Outcomes)


def write_outcomes(path: Path, outcomes: Iterable[Outcomes]) -> None:
    """Write one JSON line for each."""
    write_jsonl(path, (dataclasses.asdict(one) for one in outcomes))


def read_outcomes(path: Path) -> list[Outcomes]:
    """Read what :func:`write_outcomes` wrote.

    Raises:
        InputError: the file is absent, or a line is no such outcomes.
    """
    found = []
    for number, row in read_jsonl(path):
        try:
            found.append(_OUTCOMES.validate_json(json.dumps(row), strict=True))
        except ValidationError as error:
            key, reason = first_mistake(error)
            raise InputError(f"{path}:{number}", f"not the outcomes of items ({key}: {reason})") from error
    return found
