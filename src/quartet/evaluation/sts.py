"""Semantic similarity without training: the cosine of two texts' vectors against human scores.

T-TA paper, Section 5.4. Lee's 50 documents make 1,225 pairs, each document in 49 of them; so the interval
there resamples documents (`SimilaritySet.shared`): over pairs it would pretend to 1,225 independent ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quartet.evaluation.correlation import correlations, cosines
from quartet.evaluation.datasets import Floats, SimilaritySet
from quartet.results import Measure


def similarity_measures(
    pairs: SimilaritySet, embed: Callable[[list[str]], Floats], samples: int, seed: int
) -> dict[str, Measure]:
    """{"pearson", "spearman"} of cosines with human scores; n counts pairs.

    Args:
        pairs: the texts and their scores.
        embed: texts -> (T, d) vectors, e.g. ``lambda texts: model.embed(texts, layer="context")``; called
            once.
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: the vectors do not fit the texts, are not finite, or make all cosines equal.
    """
    vectors = np.asarray(embed(list(pairs.texts)), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(pairs.texts):
        raise ValueError(f"vectors of shape {vectors.shape} for {len(pairs.texts)} texts")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or an infinite number")
    predicted = cosines(vectors[pairs.first], vectors[pairs.second])
    members = (pairs.first, pairs.second) if pairs.shared else None
    return correlations(predicted, pairs.gold, samples, seed, members)
