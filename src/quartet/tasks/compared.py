"""Which systems are compared with each other, whatever they are judged on, and the differences of their outcomes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from quartet.results import MAIN_READINGS, EvaluatedSystem, system_name
from quartet.statistics.outcomes import Outcomes, differences
from quartet.tasks.evaluation import Evaluation

System = tuple[str, str]
"""A model and how it is read."""


def compared(systems: Iterable[System]) -> Iterator[tuple[System, System]]:
    """Yield every two systems that are read alike, or of which one is read in its main way; in the order given.

    So a model's main reading stands against every reading of another. All that the papers compare is among them.
    """
    for first, second in itertools.combinations(systems, 2):
        if first[1] == second[1] or {first[1], second[1]} & set(MAIN_READINGS):
            yield first, second


def add_differences(run: Evaluation, outcomes: Iterable[Outcomes]) -> None:
    """Add a row for every two systems that were judged on the same items, of each figure: the first minus the second.

    Where a model was trained with several seeds, the row is of the mean over them.
    """
    figures: dict[tuple[str, str, str, str], dict[System, list[Outcomes]]] = {}
    for one in outcomes:
        for metric in one.metrics:
            systems = figures.setdefault((one.table, one.dataset, one.split, metric), {})
            systems.setdefault((one.model, one.reading), []).append(one)
    for (table, dataset, split, metric), systems in figures.items():
        pairs = list(compared(systems))
        found = differences([(systems[a], systems[b]) for a, b in pairs], metric, run.samples, run.seed)
        for ((model, reading), other), difference in zip(pairs, found, strict=True):
            if difference is not None:
                trained = {one.seed for one in (*systems[model, reading], *systems[other])} - {None}
                seed = trained.pop() if len(trained) == 1 else None
                scale = f"{difference.n:,} items"
                system = EvaluatedSystem(model, "cpu", scale, seed, reading, system_name(*other))
                run.add({f"{metric}-difference": difference}, system, dataset, split, f"{table}-pairs")
