"""How far the labels 0 and 1 that a system gives are the right ones: F1 and Matthews' correlation, by weights of items.

Both are 0 where there is nothing to divide by, as in scikit-learn.
"""

from __future__ import annotations

import numpy as np

from quartet.statistics.intervals import Floats


def weighted_f1(predicted: Floats, gold: Floats, weights: Floats) -> Floats:
    """(block,) F1 of label 1; predicted and gold (P,), weights (block, P). Of predictions (S, P): (block, S)."""
    hits = weights @ (predicted * gold).T
    return _ratio(2 * hits, weights @ (predicted + gold).T)


def weighted_matthews(predicted: Floats, gold: Floats, weights: Floats) -> Floats:
    """(block,) Matthews' correlation; arguments as those of :func:`weighted_f1`."""
    tp, fp = weights @ (predicted * gold).T, weights @ (predicted * (1 - gold)).T
    fn, tn = weights @ ((1 - predicted) * gold).T, weights @ ((1 - predicted) * (1 - gold)).T
    return _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def _ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.where(below > 0, above / np.where(below > 0, below, 1.0), 0.0)
    return ratio
