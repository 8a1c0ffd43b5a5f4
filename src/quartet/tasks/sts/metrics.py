"""Semantic similarity without training: the cosine of two texts' vectors against human scores.

T-TA paper, Section 5.4. Lee's 50 documents make 1,225 pairs, each document in 49 of them; so the interval
there resamples documents (`SimilaritySet.shared`): over pairs it would pretend to 1,225 independent ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from quartet.results import Measure
from quartet.statistics.correlation import correlations, cosines, part_correlations
from quartet.statistics.intervals import Floats, Ints
from quartet.tasks.sts.data import ScoredPair, SimilaritySet


def similarity_set(parts: Iterable[Sequence[ScoredPair]]) -> SimilaritySet:
    """The pairs of one set, or of all its sub-tasks one after the other (the usual "all" of SemEval's years).

    Pairs are taken as independent, though some sentences stand in several.

    Raises:
        ValueError: there is no pair.
    """
    parts = [part for part in parts if part]
    if not parts:
        raise ValueError("no pair of texts")
    pairs = [pair for part in parts for pair in part]
    places = {text: None for pair in pairs for text in (pair.first, pair.second)}
    index = {text: number for number, text in enumerate(places)}
    return SimilaritySet(
        tuple(index),
        np.array([index[pair.first] for pair in pairs], dtype=np.int64),
        np.array([index[pair.second] for pair in pairs], dtype=np.int64),
        np.array([pair.score for pair in pairs]),
        shared=False,
        parts=np.repeat(np.arange(len(parts)), [len(part) for part in parts]) if len(parts) > 1 else None,
    )


def similarities(pairs: SimilaritySet, vectors: Floats) -> Floats:
    """(P,) cosines of the pairs' vectors; 0 where a text has no vector (zeros).

    Args:
        vectors: (T, d) of the set's texts.

    Raises:
        ValueError: the vectors do not fit the texts, or are not finite.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(pairs.texts):
        raise ValueError(f"vectors of shape {vectors.shape} for {len(pairs.texts)} texts")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or an infinite number")
    return cosines(vectors[pairs.first], vectors[pairs.second])


def cosine_measures(pairs: SimilaritySet, predicted: Floats, samples: int, seed: int) -> dict[str, Measure]:
    """{"pearson", "spearman"} of cosines with human scores; n counts pairs.

    A set of several parts has them over all pairs at once, and :func:`part_correlations` too.

    Args:
        pairs: the texts and their scores.
        predicted: (P,) the cosines.
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: all cosines are equal.
    """
    members = (pairs.first, pairs.second) if pairs.shared else None
    measures = correlations(predicted, pairs.gold, samples, seed, members)
    if pairs.parts is not None:
        measures |= part_correlations(predicted, pairs.gold, pairs.parts, samples, seed)
    return measures


def set_of_each(gold: Sequence[Floats]) -> Ints:
    """The number of the set that each pair belongs to, where several follow each other."""
    return np.repeat(np.arange(len(gold)), [len(one) for one in gold])


def mean_over_sets(
    predicted: Sequence[Floats], gold: Sequence[Floats], samples: int, seed: int
) -> dict[str, Measure]:
    """{"pearson-mean", "spearman-mean"}: the mean of several sets' correlations, as of the years of SemEval's STS.

    Args:
        predicted, gold: of each set, its cosines (P,) and human scores (P,).
        samples: the number of resamples.
        seed: of their generator.
    """
    sets = set_of_each(gold)
    found = part_correlations(np.concatenate(predicted), np.concatenate(gold), sets, samples, seed)
    return {metric: measure for metric, measure in found.items() if metric.endswith("-mean")}
