"""What ``dvc metrics`` and ``dvc plots`` show: few figures a system, and the points of the curves.

results.jsonl has hundreds of figures, with n and interval; a table of DVC's is read at a glance. So each system has a
file of its own, which is a line of ``dvc metrics show``, and of each evaluation the one figure it is judged by.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from pipeline.stages import HEADLINES
from quartet.files import write_json
from quartet.report.facts import Facts
from quartet.report.figures import training_panels
from quartet.report.papers.segatron import INPUT_LENGTH, TOKENS
from quartet.results import Result

#: The readings of a model that stand for it; the others, and the parts of sets, are in the report.
MAIN = ("", "context")
SPLITS = ("test", "dev", "valid")

#: Metric files by system: column -> set or split -> value.
Metrics = dict[str, dict[str, dict[str, float]]]
#: The rows of a plot, its header first.
Table = list[tuple[object, ...]]


def metrics(rows: Iterable[Result]) -> Metrics:
    """The figure that each system is judged by, the mean over seeds: of the test set where there is one."""
    values: defaultdict[tuple[str, str, str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        whole = row.reading in MAIN and not row.versus and "/" not in row.dataset
        if whole and row.table in HEADLINES and row.metric in HEADLINES[row.table][1].metrics:
            values[row.model, row.table, row.dataset, row.metric, row.split].append(row.value)

    def preference(key: tuple[str, str, str, str, str]) -> tuple[int, int]:
        _, table, _, metric, split = key
        return HEADLINES[table][1].metrics.index(metric), SPLITS.index(split) if split in SPLITS else len(
            SPLITS
        )

    found: Metrics = {}
    for system, table, dataset, metric, split in sorted(values, key=preference):
        stage, headline = HEADLINES[table]
        column = metric if headline.by_metric else stage
        where = split if column == "loss" else dataset
        figures = found.setdefault(system, {}).setdefault(column, {})
        figures.setdefault(where, fmean(values[system, table, dataset, metric, split]))
    return found


def validation(curves: Mapping[str, Sequence[tuple[float, float]]], facts: Facts) -> Table:
    """Nats a predicted token against training steps, a panel for each kind of prediction and input."""
    rows: Table = [("panel", "system", "step", "loss")]
    for column in training_panels([name for name in curves if curves[name]], facts):
        for title, names in column.items():
            panel = title.replace("\n", " ")
            rows += [(panel, name, f"{step:g}", loss) for name in names for step, loss in curves[name]]
    return rows


def weights(curves: Mapping[tuple[str, str, str], Sequence[tuple[float, float]]]) -> Table:
    """WER or BLEU against the weight of the language model, a panel a set of lists and split."""
    rows: Table = [("panel", "system", "weight", "value")]
    return rows + [
        (f"{lists}, {split}", system, weight, value)
        for (lists, split, system), points in curves.items()
        for weight, value in points
    ]


def input_lengths(rows: Iterable[Result]) -> Table:
    """Perplexity against the tokens of an input, a panel a corpus."""
    found: Table = [("panel", "system", "tokens", "perplexity")]
    for row in rows:
        if row.table == INPUT_LENGTH and row.metric == "ppl":
            found.append((row.dataset, row.system, int(row.split.removesuffix(TOKENS)), row.value))
    return found


def write_metrics(folder: Path, found: Metrics) -> None:
    """<system>.json of each system."""
    for system, figures in found.items():
        write_json(folder / f"{system}.json", figures)


def write_table(path: Path, rows: Table) -> None:
    """A plot's points as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
