"""The choice among hypotheses: (1 - weight) * first pass + weight * language model (T-TA paper, Section 5.3).

A peer's habit of first pass + weight * language model is another scale: its weight w is w / (1 + w) here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.nbest.types import NBest
from quartet.nbest.word_errors import ErrorTable, corpus_wer

Floats = NDArray[np.float64]


def weight_grid(start: float, stop: float, step: float) -> Floats:
    """The weights from start to stop, both included: 0 to 1 by 0.05 gives 21.

    Raises:
        InputError: the bounds are not 0 <= start <= stop <= 1, or the step is not positive.
    """
    if not (0 <= start <= stop <= 1 and step > 0):
        raise InputError(
            "rerank weights", f"start {start}, stop {stop}, step {step}: 0 <= start <= stop <= 1, step > 0"
        )
    steps = int(np.floor((stop - start) / step + 1e-9))
    return np.round(start + step * np.arange(steps + 1), 10)


@dataclass(frozen=True)
class Selection:
    """One hypothesis chosen from each of U lists, R of which have a reference.

    Attributes:
        chosen: (U,) index into each list's hypotheses.
        errors: (R,) word errors of the chosen ones, in the order of the lists that have a reference.
        words: (R,) words of those references.
    """

    chosen: NDArray[np.int64]
    errors: NDArray[np.int64]
    words: NDArray[np.int64]

    @property
    def wer(self) -> float:
        """The corpus word error rate over the lists that have a reference; the others are left out."""
        return corpus_wer(self.errors, self.words)

    @property
    def without_reference(self) -> int:
        """How many lists no word error rate can count."""
        return len(self.chosen) - len(self.errors)


@dataclass(frozen=True)
class Curve:
    """Corpus word error rate for each weight: `weights` (W,) ascending, `wer` (W,)."""

    weights: Floats
    wer: Floats

    @property
    def best_weight(self) -> float:
        """The weight of the lowest word error rate; of equal ones the smallest: nearest to the first pass."""
        return float(self.weights[int(np.argmin(self.wer))])


class Candidates:
    """A set of lists with a language model's scores: everything that a choice needs, flat over H hypotheses.

    Args:
        lists: U lists.
        lm_scores: U arrays, one finite score a hypothesis (see `quartet.nbest.scores.score_lists`).
        table: the word errors of these lists; computed when None. One table serves every model of a set.

    Raises:
        ValueError: the scores do not fit the lists or are not finite.
    """

    def __init__(
        self, lists: Sequence[NBest], lm_scores: Sequence[Floats], table: ErrorTable | None = None
    ) -> None:
        if not lists or len(lists) != len(lm_scores):
            raise ValueError(f"{len(lists)} lists and {len(lm_scores)} arrays of scores")
        for one, scores in zip(lists, lm_scores, strict=True):
            if np.shape(scores) != (len(one.hypotheses),) or not np.isfinite(scores).all():
                raise ValueError(f"{one.utterance}: one finite score a hypothesis was expected")
        self.lists = list(lists)
        self.table = ErrorTable.of(lists) if table is None else table
        sizes = [len(one.hypotheses) for one in lists]
        if not np.array_equal(np.diff(self.table.offsets), sizes):
            raise ValueError("the table of word errors is of other lists")
        self.first_pass: Floats = np.array([score for one in lists for score in one.first_pass])
        self.lm: Floats = np.concatenate([np.asarray(scores, dtype=np.float64) for scores in lm_scores])

    def scores(self, weight: float) -> Floats:
        """(H,) interpolated scores: exactly the first pass at weight 0, exactly the language model at 1."""
        assert 0 <= weight <= 1, weight
        return (1 - weight) * self.first_pass + weight * self.lm

    def select(self, weight: float) -> Selection:
        """The best hypothesis of each list; of equal ones the one that the first pass ranks higher."""
        return self._selection(self.scores(weight))

    def ranking(self, weight: float) -> list[NDArray[np.int64]]:
        """For each list the indices of its hypotheses, best first; equal ones in the first pass's order."""
        inner = self.table.offsets[1:-1]
        return [np.argsort(-each, kind="stable") for each in np.split(self.scores(weight), inner)]

    @cached_property
    def first_pass_selection(self) -> Selection:
        """What the first pass chose."""
        return self.select(0.0)

    @cached_property
    def oracle(self) -> Selection:
        """The hypothesis with the fewest word errors in each list: the least that any reranking can reach.

        Of equal ones, and where the reference is missing, the one that the first pass ranks higher.
        """
        return self._selection(-self.table.errors.astype(np.float64))

    def curve(self, weights: Sequence[float] | Floats) -> Curve:
        """The corpus word error rate at each weight, from the errors counted once."""
        values = [self.select(float(weight)).wer for weight in weights]
        return Curve(np.asarray(weights, dtype=np.float64), np.array(values))

    def _selection(self, scores: Floats) -> Selection:
        """The first hypothesis of each list that has its list's highest score."""
        starts = self.table.offsets[:-1]
        sizes = np.diff(self.table.offsets)
        best = np.repeat(np.maximum.reduceat(scores, starts), sizes)
        positions = np.where(scores == best, np.arange(len(scores)), len(scores))
        flat = np.minimum.reduceat(positions, starts)
        known = self.table.referenced
        return Selection(flat - starts, self.table.errors[flat][known], self.table.words[known])


@dataclass(frozen=True)
class Reranking:
    """A weight chosen on dev and applied to test.

    Attributes:
        weight: the chosen weight.
        dev, test: the curves over the whole grid; test's is for the plot and decides nothing.
        first_pass, reranked, oracle: the choices on test.
    """

    weight: float
    dev: Curve
    test: Curve
    first_pass: Selection
    reranked: Selection
    oracle: Selection


def check_tunable(dev: Candidates, test: Candidates) -> None:
    """Raise InputError unless a weight chosen on dev means something on test."""
    if not dev.table.referenced.any():
        raise InputError(
            "dev lists", "none has a reference, so no weight can be chosen", "give a fixed weight"
        )
    if dev.lists[0].ranked_only != test.lists[0].ranked_only:
        raise InputError("dev and test lists", "one set has first-pass scores and the other only ranks")


def tune_and_apply(dev: Candidates, test: Candidates, weights: Sequence[float] | Floats) -> Reranking:
    """Choose the weight with the lowest word error rate on dev and apply it to test.

    Raises:
        InputError: no list of dev has a reference, so that nothing can be tuned; or one set has first-pass
            scores and the other only ranks, so that a weight of the one means nothing in the other.
    """
    check_tunable(dev, test)
    dev_curve = dev.curve(weights)
    weight = dev_curve.best_weight
    return Reranking(
        weight,
        dev_curve,
        test.curve(weights),
        test.first_pass_selection,
        test.select(weight),
        test.oracle,
    )
