"""Entailment: how many pairs are labelled right, where the pairs of one premise stand or fall together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quartet.results import Measure
from quartet.statistics.intervals import Floats, bootstrap_measure
from quartet.tasks.nli.data import LABELS, TWO_LABELS, NliPair

#: The sets on which Table 5 of the Segatron paper judges tuned encoders, by their names in params.yaml; their mean.
SEVEN = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sick")
AVERAGE = "sts-average"


def accuracy(pairs: Sequence[NliPair], predicted: Sequence[str], samples: int, seed: int) -> Measure:
    """The share of right labels with a 95 % interval; n counts pairs.

    What is resampled is premises, each with all its pairs: SNLI and MultiNLI have three hypotheses a premise, which are
    no independent items. Where the set has the two labels of HANS, neutral and contradiction are both
    ``non-entailment``.

    Args:
        predicted: one of `LABELS` a pair.
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: the numbers differ, or there are no pairs.
    """
    if len(pairs) != len(predicted) or not pairs:
        raise ValueError(f"{len(pairs)} pairs and {len(predicted)} predictions")
    two = any(pair.label not in LABELS for pair in pairs)
    said = [as_two(label) for label in predicted] if two else list(predicted)
    right = np.array([pair.label == label for pair, label in zip(pairs, said, strict=True)], dtype=np.float64)
    _, owners = np.unique([pair.premise for pair in pairs], return_inverse=True)
    hits, sizes = np.bincount(owners, weights=right), np.bincount(owners).astype(np.float64)

    def share(counts: Floats) -> Floats:
        found: Floats = (counts @ hits) / (counts @ sizes)
        return found

    return bootstrap_measure(share, len(sizes), len(pairs), samples, seed)


def as_two(label: str) -> str:
    """One of the three labels as one of the two of HANS."""
    return TWO_LABELS[0] if label == LABELS[0] else TWO_LABELS[1]
