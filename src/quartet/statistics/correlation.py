"""Pearson and Spearman correlation with intervals, of pairs that may share their members."""

from __future__ import annotations

import numpy as np

from quartet.results import Measure
from quartet.statistics.intervals import Floats, Ints, Statistic, bootstrap_measures


def weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """(block,) Pearson correlations of x and y, (P,) or (block, P), with weights (block, P).

    NaN where a side is constant.
    """
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weights / total
        x = x - (share * x).sum(axis=1, keepdims=True)
        y = y - (share * y).sum(axis=1, keepdims=True)
        covariance = (share * x * y).sum(axis=1)
        variance_x, variance_y = (share * x * x).sum(axis=1), (share * y * y).sum(axis=1)
        spread = np.sqrt(variance_x * variance_y)
        # rounding leaves about 1e-33 of a constant side's variance
        constant = (variance_x <= 1e-24 * _square(x)) | (variance_y <= 1e-24 * _square(y)) | (spread == 0)
        return np.where(constant, np.nan, np.clip(covariance / spread, -1.0, 1.0))


def pearsons(x: Floats, y: Floats, weights: Floats) -> Floats:
    """(block, S) Pearson correlations of each x (S, P) with y (P,); weights (block, P). NaN where a side is constant.

    By matrix products, so that many systems take little longer than one.
    """
    x, y = (one - one.mean(axis=-1, keepdims=True) for one in (x, y))
    x, y = (
        one / np.where(one.any(-1, keepdims=True), one.std(axis=-1, keepdims=True), 1.0) for one in (x, y)
    )
    total = weights.sum(axis=1, keepdims=True)

    def means(columns: Floats) -> Floats:
        mean: Floats = weights @ np.atleast_2d(columns).T / total
        return mean

    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_y = means(x), means(y)
        variance_x, variance_y = means(x * x) - mean_x**2, means(y * y) - mean_y**2
        constant = (variance_x < 1e-12) | (variance_y < 1e-12)  # of variances that are 1 over all pairs
        correlation = (means(x * y) - mean_x * mean_y) / np.sqrt(
            np.where(constant, np.nan, variance_x * variance_y)
        )
    return np.clip(correlation, -1.0, 1.0)


def spearmans(x: Floats, y: Floats, weights: Floats) -> Floats:
    """(block, S) Spearman correlations of each x (S, P) with y (P,); weights (block, P). NaN if a side is constant."""
    middle = (weights.sum(axis=1, keepdims=True) + 1) / 2  # the mean of the ranks
    ranks_y = weighted_ranks(y, weights) - middle
    weighted_y = weights * ranks_y
    variance_y = (weighted_y * ranks_y).sum(axis=1)
    found = np.empty((len(weights), len(x)))
    for place, one in enumerate(x):
        ranks_x = weighted_ranks(one, weights) - middle
        variance_x = np.einsum("bp,bp,bp->b", weights, ranks_x, ranks_x)
        with np.errstate(invalid="ignore"):
            found[:, place] = np.einsum("bp,bp->b", weighted_y, ranks_x) / np.sqrt(variance_x * variance_y)
    return found


def weighted_ranks(x: Floats, weights: Floats) -> Floats:
    """(block, P) ranks of x (P,) if element p occurs weights[:, p] times; equal values share a mean rank."""
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    closes = np.append(ordered[1:] != ordered[:-1], True)  # where a run of equal values ends
    ends = np.flatnonzero(closes)
    run = np.empty(len(x), dtype=np.int64)
    run[order] = np.cumsum(closes) - closes
    sizes = np.take(weights, order, axis=1)
    reached = np.cumsum(sizes, axis=1)
    if len(ends) < len(x):
        reached = np.take(reached, ends, axis=1)
        sizes = np.diff(reached, axis=1, prepend=0.0)
    ranks: Floats = np.take(reached - sizes / 2 + 0.5, run, axis=1)
    return ranks


def weighted_spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """(block,) Spearman correlations of x and y (P,) with weights (block, P); NaN where a side is constant."""
    return weighted_pearson(weighted_ranks(x, weights), weighted_ranks(y, weights), weights)


def correlations(
    predicted: Floats,
    gold: Floats,
    samples: int,
    seed: int,
    members: tuple[Ints, Ints] | None = None,
) -> dict[str, Measure]:
    """{"pearson", "spearman"} of P predictions with P human scores, with 95 % intervals.

    Args:
        predicted: (P,) finite.
        gold: (P,) the human scores, finite.
        samples: the number of resamples.
        seed: of their generator.
        members: None where the pairs are independent: pairs are then resampled. Where they share members
            (each text stands in many pairs), the two members of each pair as indices (P,), (P,): the MEMBERS
            are then resampled, a pair counting as often as the product of its members' draws, because one odd
            text spoils all of its pairs together and an interval over pairs would be far too narrow. A text
            is never paired with its own copy.

    Raises:
        ValueError: the shapes differ, there are fewer than two pairs, or a side is constant (no correlation
            exists).
    """
    if predicted.shape != gold.shape or predicted.ndim != 1 or len(gold) < 2:
        raise ValueError(f"{predicted.shape} predictions and {gold.shape} human scores")
    if np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        which = "predictions" if np.ptp(predicted) == 0 else "human scores"
        raise ValueError(f"all {which} are equal: they have no correlation")

    units = len(gold) if members is None else 1 + max(int(members[0].max()), int(members[1].max()))

    def weights(counts: Floats) -> Floats:
        return counts if members is None else counts[:, members[0]] * counts[:, members[1]]

    def pearson(counts: Floats) -> Floats:
        return weighted_pearson(predicted, gold, weights(counts))

    def spearman(counts: Floats) -> Floats:
        return weighted_spearman(predicted, gold, weights(counts))

    pairs = len(gold)
    statistics = {"pearson": (pearson, pairs), "spearman": (spearman, pairs)}
    unit = "pairs" if members is None else "texts"
    return bootstrap_measures(statistics, units, samples, seed, pairs, unit)


def part_correlations(
    predicted: Floats, gold: Floats, parts: Ints, samples: int, seed: int
) -> dict[str, Measure]:
    """{"pearson-mean", "pearson-weighted", "spearman-mean", "spearman-weighted"} over the parts of a set.

    Each part (a sub-task, a year) has a correlation of its own; ``-mean`` is the plain mean of these, ``-weighted`` the
    mean weighted by the parts' pairs. :func:`correlations` of the same pairs is the third way, "all": one correlation
    over the concatenated parts. The intervals resample pairs of all parts together.

    Args:
        predicted, gold: (P,) finite.
        parts: (P,) the part that each pair belongs to.
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: a part has fewer than two pairs, or a constant side.
    """
    members = [np.flatnonzero(parts == part) for part in np.unique(parts)]
    for own in members:
        if np.ptp(predicted[own]) == 0 or np.ptp(gold[own]) == 0:
            raise ValueError(f"part {parts[own[0]]} is constant: it has no correlation")
    shares = np.array([len(own) for own in members]) / len(parts)

    def pearson(counts: Floats) -> Floats:
        return np.stack([weighted_pearson(predicted[own], gold[own], counts[:, own]) for own in members], 1)

    def spearman(counts: Floats) -> Floats:
        return np.stack([weighted_spearman(predicted[own], gold[own], counts[:, own]) for own in members], 1)

    pairs = len(gold)
    statistics: dict[str, tuple[Statistic, int]] = {
        "pearson-mean": (lambda counts: pearson(counts).mean(axis=1), pairs),
        "pearson-weighted": (lambda counts: pearson(counts) @ shares, pairs),
        "spearman-mean": (lambda counts: spearman(counts).mean(axis=1), pairs),
        "spearman-weighted": (lambda counts: spearman(counts) @ shares, pairs),
    }
    return bootstrap_measures(statistics, pairs, samples, seed, pairs, "pairs")


def cosines(left: Floats, right: Floats) -> Floats:
    """(P,) cosine of each row of left (P, d) with the same row of right; 0 where a vector is zero."""
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products: Floats = np.einsum("pd,pd->p", left, right)
    return products / np.where(lengths > 0, lengths, 1.0)


def _square(x: Floats) -> Floats:
    """The largest square of each row, the scale against which a variance is nothing."""
    largest: Floats = np.max(x * x, axis=1)
    return largest
