"""The figures of a system as metrics of its row in MLflow: names that are read in the head of a narrow column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from pipeline.stages import HEADLINES
from quartet.results import Result

#: The table whose figure is the end of a curve.
TRAINING = "training"
#: Tables of which a metric and a data set say enough; the name of another stands behind them.
KNOWN = frozenset(HEADLINES) - {TRAINING, "nli"}  # a model tuned for nli is judged on the sets of sts
#: Significant digits: the table of runs shows every digit that a value has. The runs of stages have it whole.
DIGITS = 5

Point = tuple[str, float, int]
"""A metric's name, its value and its step."""


def reading_of(row: Result, system: str) -> str:
    """How the model `system` was read; empty for a system that is no model's reading."""
    return row.reading if row.model == system else ""


def column(row: Result, system: str) -> str:
    """The name of a row's metric in the row of its system, what differs first, and ``test`` left out.

    ``wer sample-speech``, ``pearson context lee``, ``loss wikipedia-sample``, ``loss wikipedia-sample valid training``.
    """
    split = "" if row.split == "test" else row.split
    table = "" if row.table in KNOWN else row.table
    return " ".join(filter(None, (row.metric, reading_of(row, system), row.dataset, split, table)))


def columns_of(rows: Iterable[Result], system: str) -> dict[str, list[Result]]:
    """The rows of a system by their columns, a row a seed; two tables in one column are told apart by their names."""
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for row in rows:
        found[column(row, system)].append(row)
    for name, own in list(found.items()):
        if len({row.table for row in own}) > 1:
            del found[name]
            for row in own:
                found[f"{name} {row.table}"].append(row)
    return dict(found)


def mean(rows: Iterable[Result]) -> float:
    """The mean over the seeds."""
    return fmean(row.value for row in rows)


def points_of(columns: dict[str, list[Result]]) -> list[Point]:
    """Each column's mean over the seeds, and where there are several, each seed's value beside it."""
    points = []
    for name, rows in columns.items():
        points.append((name, shown(mean(rows)), 0))
        if len(rows) > 1:
            points += [(f"{name} seed-{row.seed}", shown(row.value), 0) for row in rows]
    return points


def shown(value: float) -> float:
    """A value as the table of runs can show it."""
    return float(f"{value:.{DIGITS}g}")
