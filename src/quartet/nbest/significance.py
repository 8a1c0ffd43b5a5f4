"""How sure a word error rate, and a difference between two, is: a bootstrap over utterances.

Utterances are resampled because they are what a test set is a sample of: words within one are recognised
together, and so are their errors. A resample's rate is its errors over its reference words, as the corpus
rate is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quartet.evaluation.intervals import (
    Floats,
    Statistic,
    bootstrap_measure,
    bootstrap_replicates,
    percentile_interval,
    two_sided_p,
)
from quartet.nbest.rerank import Selection
from quartet.results import Measure


@dataclass(frozen=True)
class Comparison:
    """System minus baseline on the same utterances.

    Attributes:
        difference: of the corpus word error rates, with a 95 % interval; negative is better than the
            baseline.
        p_value: two-sided; 1 where the two never differ.
    """

    difference: Measure
    p_value: float


def wer_measure(selection: Selection, samples: int, seed: int) -> Measure:
    """The corpus word error rate with a 95 % interval; n counts the utterances that have a reference.

    Raises:
        ValueError: no utterance has a reference.
    """
    n = len(selection.errors)
    if n == 0:
        raise ValueError("no utterance has a reference")
    return bootstrap_measure(_rate(selection.errors, selection.words), n, n, samples, seed)


def paired_bootstrap(system: Selection, baseline: Selection, samples: int, seed: int) -> Comparison:
    """Compare two choices from the same lists; each resample draws the same utterances for both.

    Raises:
        ValueError: the two are not of the same references, or there is none.
    """
    if not np.array_equal(system.words, baseline.words):
        raise ValueError("the two choices are not of the same utterances")
    n = len(system.words)
    if n == 0:
        raise ValueError("no utterance has a reference")
    statistic = _rate(system.errors - baseline.errors, system.words)
    value = float(statistic(np.ones((1, n)))[0])
    replicates = bootstrap_replicates(statistic, n, samples, seed)
    low, high = percentile_interval(replicates) if n > 1 else (None, None)
    return Comparison(Measure(value, n, low, high), two_sided_p(replicates))


def _rate(errors: NDArray[np.int64], words: NDArray[np.int64]) -> Statistic:
    """Errors over words of each resample; without words the errors themselves, as in `corpus_wer`."""
    columns = np.stack([errors, words], axis=1).astype(np.float64)

    def statistic(counts: Floats) -> Floats:
        totals = counts @ columns
        rates: Floats = totals[:, 0] / np.where(totals[:, 1] > 0, totals[:, 1], 1.0)
        return rates

    return statistic
