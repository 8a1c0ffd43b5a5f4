"""GLUE's metrics with intervals, and the two baselines that need no language model.

Predictions are numbers: the index of a label in the task's `labels`, or STS-B's score.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from quartet.files import atomic_path
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.agreement import weighted_f1, weighted_matthews
from quartet.statistics.correlation import correlations
from quartet.statistics.intervals import Floats, Statistic, bootstrap_measures, wilson
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import HIGHEST, LOWEST, TASKS, GlueExample, GlueTask


def gold_of(task: GlueTask, examples: Sequence[GlueExample]) -> Floats:
    """(n,) the index of each example's label, or its score.

    Raises:
        ValueError: an example's label is hidden.
    """
    if not all(example.labelled for example in examples):
        raise ValueError("the labels of these examples are hidden")
    if task.regression:
        return np.array([example.score for example in examples], dtype=np.float64)
    return np.array([task.labels.index(str(example.label)) for example in examples], dtype=np.float64)


def values(task: GlueTask, gold: Floats, predicted: Floats) -> dict[str, float]:
    """Each of the task's metrics, by scikit-learn and scipy, as GLUE's own evaluation has them.

    Matthews' correlation and F1 (of label 1) are 0 where a system gives one answer only; Pearson's and Spearman's are
    NaN there.

    Raises:
        ValueError: the numbers differ, or there are none.
    """
    if gold.shape != predicted.shape or not len(gold):
        raise ValueError(f"{gold.shape} labels and {predicted.shape} predictions")
    found: dict[str, float] = {}
    for metric in task.metrics:
        if metric in ("pearson", "spearman"):
            found[metric] = _correlation(metric, gold, predicted)
        else:
            from sklearn.metrics import (
                accuracy_score,
                f1_score,
                matthews_corrcoef,
            )  # half a second of imports

            if metric == "f1":
                found[metric] = float(f1_score(gold, predicted, zero_division=0.0))
            else:
                score = {"accuracy": accuracy_score, "matthews": matthews_corrcoef}[metric]
                found[metric] = float(score(gold, predicted))
    return found


def overall(task: GlueTask, gold: Floats, predicted: Floats) -> float:
    """What systems are chosen by: the mean of the task's metrics; minus infinity where one is undefined."""
    mean = float(np.mean(list(values(task, gold, predicted).values())))
    return mean if np.isfinite(mean) else -np.inf


def glue_measures(
    task: GlueTask, gold: Floats, predicted: Floats, samples: int, seed: int
) -> dict[str, Measure]:
    """`values` with 95 % intervals; n counts examples; what is undefined is left out.

    Accuracy has Wilson's interval, the others that of a bootstrap over examples. They are of this one training: they do
    not hold what another seed would change.
    """
    n = len(gold)
    found = {metric: value for metric, value in values(task, gold, predicted).items() if np.isfinite(value)}
    if task.regression:
        return correlations(predicted, gold, samples, seed) if found and n > 1 else {}
    functions = {"f1": weighted_f1, "matthews": weighted_matthews}
    statistics: dict[str, tuple[Statistic, int]] = {
        metric: (partial(functions[metric], predicted, gold), n) for metric in found if metric in functions
    }
    intervals = bootstrap_measures(statistics, n, samples, seed, unit="examples") if statistics else {}
    if "accuracy" in found:
        intervals["accuracy"] = wilson(int((gold == predicted).sum()), n)
    return {metric: intervals[metric] for metric in found}


def keep_outcomes(
    run: Evaluation,
    metrics: Collection[str],
    gold: Floats,
    predicted: Floats,
    system: EvaluatedSystem,
    dataset: str,
    split: str,
) -> None:
    """Keep what a system made of each example, for the metrics that it has."""
    agreements = tuple(metric for metric in metrics if metric != "accuracy")
    if agreements:
        run.keep(agreements, predicted, system, dataset, split, "glue", gold=gold, unit="examples")
    if "accuracy" in metrics:
        run.keep(("accuracy",), gold == predicted, system, dataset, split, "glue", unit="examples")


def _correlation(metric: str, gold: Floats, predicted: Floats) -> float:
    from scipy.stats import pearsonr, spearmanr

    if len(gold) < 2:
        return float("nan")
    with warnings.catch_warnings():  # scipy warns of a constant side, whose correlation is NaN
        warnings.simplefilter("ignore")
        return float({"pearson": pearsonr, "spearman": spearmanr}[metric](gold, predicted).statistic)


#: The files that are not called after their task: MNLI has three test sets.
_MNLI = {"test_matched": "MNLI-m", "test_mismatched": "MNLI-mm", "diagnostic": "AX"}


def file_name(format: str, split: str) -> str | None:
    """``RTE.tsv``, ``MNLI-m.tsv``, ... for a test split; None for a split that the leaderboard does not want."""
    if format == "mnli":
        return f"{_MNLI[split]}.tsv" if split in _MNLI else None
    return f"{TASKS[format].name}.tsv" if split == "test" else None


def write_predictions(path: Path, format: str, examples: Sequence[GlueExample], predicted: Floats) -> None:
    """Write ``index`` TAB ``prediction``, a line an example in the file's order, with a line of names.

    Labels are written as GLUE's files write them, STS-B's scores with three decimals, brought within 0 and 5 as the
    leaderboard wants them.

    Args:
        predicted: (n,) as in :mod:`quartet.tasks.glue.metrics`.

    Raises:
        ValueError: the numbers differ.
    """
    if predicted.shape != (len(examples),):
        raise ValueError(f"{predicted.shape} predictions for {len(examples)} examples")
    labels = TASKS[format].labels
    lines = ["index\tprediction"]
    for example, value in zip(examples, predicted.tolist(), strict=True):
        said = labels[int(value)] if labels else f"{float(np.clip(value, LOWEST, HIGHEST)):.3f}"
        lines.append(f"{example.index}\t{said}")
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
