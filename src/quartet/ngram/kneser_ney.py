"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998, section 3; Heafield et al. 2013, section 3).

An n-gram of adjusted count a has the probability (a - D(a)) / sum of a over its context's n-grams, plus the context's
backoff weight times the probability of the n-gram without its first word. D is the discount of counts 1, 2, and 3 or
more, one set an order; single words are interpolated with the uniform distribution over all words, </s> and <unk>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quartet.config.ngram import NgramConfig
from quartet.errors import InputError
from quartet.ngram.counts import START_ID, UNKNOWN_ID, Ints, NgramCounts, adjusted_counts
from quartet.statistics.intervals import Floats


@dataclass(frozen=True)
class OrderEntries:
    """The entries of one order in an ARPA file: K of its n-grams.

    Attributes:
        kept: (K,) their numbers, rising.
        logprob: (K,) log10 of their probabilities, at most 0.
        backoff: (K,) log10 of their weights as contexts; None for the highest order, whose n-grams are none.
    """

    kept: NDArray[np.int64]
    logprob: Floats
    backoff: Floats | None


@dataclass(frozen=True)
class Smoothing:
    """What the probabilities are computed from, an entry an order.

    Attributes:
        grams, adjusted: the n-grams and their adjusted counts.
        thresholds: n-grams that occur so often or less are left out.
        discounts: of adjusted counts 0 (nothing), 1, 2, and 3 or more.
    """

    grams: Sequence[NgramCounts]
    adjusted: Sequence[Ints]
    thresholds: Sequence[int]
    discounts: Sequence[Floats]

    @classmethod
    def of(cls, grams: Sequence[NgramCounts], config: NgramConfig) -> Smoothing:
        """Adjust the counts and compute the discounts.

        Raises:
            InputError: the discounts of an order cannot be computed, and the configuration has none to fall back on.
        """
        adjusted = [adjusted_counts(*pair) for pair in zip(grams, [*grams[1:], None], strict=True)]
        counted = _counts_of_counts(grams, adjusted)
        discounts = [_discounts(n, counts, config) for n, counts in enumerate(counted, start=1)]
        return cls(grams, adjusted, config.thresholds, discounts)

    def sizes(self) -> list[int]:
        """How many n-grams of each order are kept."""
        return [int(self._kept(n).sum()) for n in range(len(self.grams))]

    def levels(self) -> Iterator[OrderEntries]:
        """The orders from 1 on, one at a time: a level needs the one below and the discounts of the one above."""
        weight, own = self._weights(0)
        # <unk> is a word that was never seen; <s> is given, never predicted: its probability is 1 in the file.
        probability = own + weight / (len(own) - 1)
        probability[START_ID] = 1.0
        for n in range(len(self.grams)):
            kept = np.flatnonzero(self._kept(n))
            logprob = np.minimum(np.log10(probability[kept]), 0.0)
            if n + 1 == len(self.grams):
                yield OrderEntries(kept, logprob, None)
                return
            weights, own = self._weights(n + 1)
            yield OrderEntries(kept, logprob, np.log10(weights[kept]))
            longer = self.grams[n + 1]
            probability = own + weights[longer.context] * probability[longer.rest]

    def _kept(self, n: int) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = self.grams[n].count > self.thresholds[n]
        if n == 0:
            kept[[UNKNOWN_ID, START_ID]] = True
        return kept

    def _weights(self, n: int) -> tuple[Floats, Floats]:
        """The backoff weight of each context of the n-grams, and of each n-gram its own discounted share.

        A context with no n-gram after it has weight 1. What is left out gives its whole count to the weight, so that
        probabilities still sum to 1.
        """
        grams, adjusted, discounts = self.grams[n], self.adjusted[n], self.discounts[n]
        size = len(self.grams[n - 1]) if n else 1
        discount = np.where(self._kept(n), discounts[np.minimum(adjusted, 3)], adjusted)
        total = np.bincount(grams.context, weights=adjusted, minlength=size)
        freed = np.bincount(grams.context, weights=discount, minlength=size)
        weights = np.divide(freed, total, out=np.ones(size), where=total > 0)
        return weights, (adjusted - discount) / total[grams.context]


def _counts_of_counts(grams: Sequence[NgramCounts], adjusted: Sequence[Ints]) -> list[NDArray[np.int64]]:
    """Of each order (5,): how many n-grams have the adjusted count 0 (unused), 1, 2, 3, 4.

    As in lmplz, the last n-gram of an order below the highest counts by how often it occurs: it is met when the text is
    over. Without that the two would differ by one n-gram in these counts.
    """
    found = [np.bincount(np.minimum(each, 5), minlength=6)[:5] for each in adjusted]
    for n, (one, counts) in enumerate(zip(grams[:-1], adjusted[:-1], strict=True)):
        if not len(one) or (n and one.rest[-1] != len(grams[n - 1]) - 1):
            break  # the last one here is no longer form of the last one below
        for change, count in ((-1, counts[-1]), (1, one.count[-1])):
            if count < 5:
                found[n][count] += change
    return found


def _discounts(order: int, counts: NDArray[np.int64], config: NgramConfig) -> Floats:
    """(4,) D(0), D(1), D(2), D(3+) by equation 26 of Chen and Goodman."""
    n1, n2 = int(counts[1]), int(counts[2])
    missing = next((count for count in (1, 2, 3) if not counts[count]), None)
    if missing is None:
        y = n1 / (n1 + 2 * n2)
        found = np.array([0.0] + [k - (k + 1) * y * counts[k + 1] / counts[k] for k in (1, 2, 3)])
        wrong = next((k for k in (1, 2, 3) if not 0 < found[k] <= k), None)
        if wrong is None:
            return found
        reason = f"the discount of count {wrong} is {found[wrong]:.3f}, not above 0 and at most {wrong}"
    else:
        reason = f"none of them has the adjusted count {missing}"
    if config.discount_fallback is None:
        raise no_discounts(order, reason)
    return np.array([0.0, *config.discount_fallback])


def no_discounts(order: int, reason: str) -> InputError:
    """What a text is refused with whose discounts of one order cannot be computed, by either estimator."""
    return InputError(
        f"n-grams of order {order}",
        f"{reason}, so Kneser-Ney discounts cannot be computed",
        "give more or less repetitive text, a lower order, or set discount_fallback, e.g. to [0.5, 1, 1.5]",
    )
