"""Accuracy and F1 of labelled texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quartet.results import Measure
from quartet.statistics.intervals import Floats, bootstrap_measure, wilson


def classification_measures(
    gold: Sequence[str], predicted: Sequence[str], positive: str, samples: int, seed: int
) -> dict[str, Measure]:
    """{"accuracy", "f1"} with 95 % intervals; n counts texts.

    Accuracy has Wilson's interval, F1 of the label `positive` that of a bootstrap over texts (F1 is no
    proportion). Both take the predictions as independent; in cross-validation systems share training texts,
    so the true intervals are somewhat wider. F1 is 0 where the label is neither there nor predicted.

    Raises:
        ValueError: the numbers differ, or no text has the label `positive`.
    """
    if len(gold) != len(predicted) or positive not in gold:
        raise ValueError(f"{len(gold)} labels, {len(predicted)} predictions, positive label {positive!r}")
    right = np.array([a == b for a, b in zip(gold, predicted, strict=True)])
    is_gold = np.array([label == positive for label in gold])
    is_predicted = np.array([label == positive for label in predicted])
    hits = (is_gold & is_predicted).astype(np.float64)
    both = is_gold.astype(np.float64) + is_predicted

    def f1(counts: Floats) -> Floats:
        total = counts @ both
        value: Floats = 2 * (counts @ hits) / np.where(total > 0, total, 1.0)
        return value

    return {
        "accuracy": wilson(int(right.sum()), len(gold)),
        "f1": bootstrap_measure(f1, len(gold), len(gold), samples, seed),
    }
