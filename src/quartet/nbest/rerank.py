"""The choice among hypotheses: (1 - weight) * first pass + weight * language model (T-TA paper, Section 5.3).

A peer's habit of first pass + weight * language model is another scale: its weight w is w / (1 + w) here. Of two
language models, `combine` mixes: (1 - share) * one + share * the other.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quartet.config.nbest import MOST_WEIGHTS
from quartet.errors import InputError
from quartet.nbest.line_search import LineSearch
from quartet.nbest.metrics import Counts, CountTable, Metric, WordErrorRate
from quartet.nbest.types import NBest, words
from quartet.nbest.units import ResampledUnits
from quartet.statistics.intervals import Floats


def weight_grid(start: float, stop: float, step: float) -> Floats:
    """The weights from start to stop, both included: 0 to 1 by 0.05 gives 21; by 0.3 it is 0.1 from the last but one.

    Raises:
        InputError: the bounds are not 0 <= start <= stop <= 1, the step is not positive, or there are too many.
    """
    if not (0 <= start <= stop <= 1 and step > 0):
        raise InputError(
            "rerank weights", f"start {start}, stop {stop}, step {step}: 0 <= start <= stop <= 1, step > 0"
        )
    if (stop - start) / step >= MOST_WEIGHTS:
        raise InputError(
            "rerank weights", f"the step {step} makes more than {MOST_WEIGHTS:,} weights", "take a larger one"
        )
    steps = int(np.floor((stop - start) / step + 1e-9))
    weights = np.round(start + step * np.arange(steps + 1), 10)
    return weights if stop - weights[-1] < 1e-9 else np.append(weights, stop)


@dataclass(frozen=True)
class Selection:
    """One hypothesis chosen from each of U lists, R of which have a reference.

    Attributes:
        chosen: (U,) index into each list's hypotheses.
        counts: (R, S) the metric's counts of the chosen ones, in the order of the lists that have a reference.
        metric: what they are judged by.
        units: (R,) what is resampled of them.
    """

    chosen: NDArray[np.int64]
    counts: Counts
    metric: Metric
    units: ResampledUnits

    @property
    def value(self) -> float:
        """The metric over the lists that have a reference; the others are left out."""
        return float(self.metric.corpus(self.counts.sum(axis=0, keepdims=True))[0])

    @property
    def without_reference(self) -> int:
        """How many lists the metric cannot count."""
        return len(self.chosen) - len(self.counts)


@dataclass(frozen=True)
class WeightCurve:
    """A metric for each weight: `weights` (W,) ascending, `values` (W,), `better` the sign of a better value."""

    weights: Floats
    values: Floats
    better: int

    @property
    def best_weight(self) -> float:
        """The weight of the best value; of equal ones the smallest: nearest to the first pass."""
        return float(self.weights[int(np.argmax(self.better * self.values))])

    @property
    def best_value(self) -> float:
        """The value there."""
        return float(self.values[int(np.argmax(self.better * self.values))])


@dataclass(frozen=True)
class BestWeight:
    """The best weight of a set of lists, the metric there, and the curve that shows it."""

    weight: float
    value: float
    curve: WeightCurve


class Candidates:
    """A set of lists with a language model's scores: everything that a choice needs, flat over H hypotheses.

    Args:
        lists: U lists.
        lm_scores: U arrays, one finite score a hypothesis (see `quartet.nbest.scores.score_lists`).
        table: the counts of these lists; their word errors when None. One table serves every model of a set.

    Raises:
        ValueError: the scores do not fit the lists or are not finite.
    """

    def __init__(
        self, lists: Sequence[NBest], lm_scores: Sequence[Floats], table: CountTable | None = None
    ) -> None:
        if not lists or len(lists) != len(lm_scores):
            raise ValueError(f"{len(lists)} lists and {len(lm_scores)} arrays of scores")
        for one, scores in zip(lists, lm_scores, strict=True):
            if np.shape(scores) != (len(one.hypotheses),) or not np.isfinite(scores).all():
                raise ValueError(f"{one.utterance}: one finite score a hypothesis was expected")
        self.lists = list(lists)
        self.table = CountTable.of(lists, WordErrorRate()) if table is None else table
        sizes = [len(one.hypotheses) for one in lists]
        if not np.array_equal(np.diff(self.table.offsets), sizes):
            raise ValueError("the table is of other lists")
        self.first_pass: Floats = np.array([score for one in lists for score in one.first_pass])
        self.lm: Floats = np.concatenate([np.asarray(scores, dtype=np.float64) for scores in lm_scores])

    def mixed(self, other: Candidates, share: float) -> Candidates:
        """These lists with the scores (1 - share) * this language model + share * the other one.

        Raises:
            ValueError: the other's lists are others.
        """
        if self.lists != other.lists:
            raise ValueError("the two language models scored different lists")
        both = copy.copy(self)  # what is cached of it, first pass and oracle, knows no language model
        both.lm = (1 - share) * self.lm + share * other.lm
        return both

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
        """The hypothesis with the most merit in each list (the fewest word errors; see `Bleu` for BLEU).

        Of equal ones, and where the reference is missing, the one that the first pass ranks higher.
        """
        return self._selection(self.table.merit)

    def curve(self, weights: Sequence[float] | Floats) -> WeightCurve:
        """The metric at each weight, from counts made once."""
        values = [self.select(float(weight)).value for weight in weights]
        return WeightCurve(np.asarray(weights, dtype=np.float64), np.array(values), self.table.metric.better)

    def best(self, weights: Sequence[float] | Floats | None = None) -> BestWeight:
        """The weight with the best value of the metric.

        Args:
            weights: to try; of equally good ones it is the smallest. None: all that there are, see
                `quartet.nbest.line_search.LineSearch`.
        """
        if weights is not None:
            curve = self.curve(weights)
            return BestWeight(curve.best_weight, curve.best_value, curve)
        search = LineSearch(self.first_pass, self.lm, self.table)
        return BestWeight(search.weight, self.select(search.weight).value, self.curve(search.curve_weights()))

    def _selection(self, scores: Floats) -> Selection:
        """The first hypothesis of each list that has its list's highest score."""
        starts = self.table.offsets[:-1]
        sizes = np.diff(self.table.offsets)
        best = np.repeat(np.maximum.reduceat(scores, starts), sizes)
        positions = np.where(scores == best, np.arange(len(scores)), len(scores))
        flat = np.minimum.reduceat(positions, starts)
        return Selection(
            flat - starts, self.table.counts[flat][self.table.referenced], self.table.metric, self.table.units
        )


@dataclass(frozen=True)
class Reranking:
    """A weight chosen on dev and applied to test.

    Attributes:
        weight: the chosen weight.
        dev, test: the curves over the same weights; test's decides nothing.
        on_test: what would have been chosen on test itself.
        first_pass, reranked, oracle: the choices on test.
    """

    weight: float
    dev: WeightCurve
    test: WeightCurve
    on_test: BestWeight
    first_pass: Selection
    reranked: Selection
    oracle: Selection


def check_tunable(dev: Sequence[NBest], test: Sequence[NBest]) -> None:
    """Raise InputError unless a weight chosen on dev means something on test."""
    if all(one.reference is None for one in dev):
        raise InputError(
            "dev lists", "none has a reference, so no weight can be chosen", "give a fixed weight"
        )
    if dev[0].ranked_only != test[0].ranked_only:
        raise InputError("dev and test lists", "one set has first-pass scores and the other only ranks")


def tune_and_apply(
    dev: Candidates, test: Candidates, weights: Sequence[float] | Floats | None = None
) -> Reranking:
    """Choose the weight that is best on dev, as `Candidates.best` finds it, and apply it to test.

    Raises:
        InputError: no list of dev has a reference, so that nothing can be tuned; or one set has first-pass
            scores and the other only ranks, so that a weight of the one means nothing in the other.
    """
    check_tunable(dev.lists, test.lists)
    best = dev.best(weights)
    return Reranking(
        best.weight,
        best.curve,
        test.curve(best.curve.weights),
        test.best(weights),
        test.first_pass_selection,
        test.select(best.weight),
        test.oracle,
    )


def by_length(
    selection: Selection, lists: Sequence[NBest], edges: Sequence[int]
) -> Iterator[tuple[str, Selection]]:
    """Yield (name, the part of a choice) for each range of reference lengths that has any list.

    Args:
        lists: what the choice is from. Those without a reference are in no range.
        edges: the most words of each range but the last, ascending: 5 and 10 make "0-5", "6-10" and "11-".
    """
    lengths = np.array([-1 if one.reference is None else len(words(one.reference)) for one in lists])
    chosen, lengths = selection.chosen[lengths >= 0], lengths[lengths >= 0]
    low = 0
    for edge in [*edges, None]:
        inside = lengths >= low if edge is None else (lengths >= low) & (lengths <= edge)
        if inside.any():
            name = f"{low}-{'' if edge is None else edge}"
            part = selection.units.part(inside)
            yield name, Selection(chosen[inside], selection.counts[inside], selection.metric, part)
        low = 0 if edge is None else edge + 1


@dataclass(frozen=True)
class Combination:
    """Two numbers chosen on dev and applied to test.

    Attributes:
        share: of the second language model in the mixture: 0 is the first alone, 1 the second alone.
        reranking: with that mixture.
        test: the test lists with the scores of that mixture.
    """

    share: float
    reranking: Reranking
    test: Candidates


def combine(
    dev: tuple[Candidates, Candidates],
    test: tuple[Candidates, Candidates],
    weights: Sequence[float] | Floats | None,
    shares: Sequence[float] | Floats,
) -> Combination:
    """Choose share and weight that are best on dev together.

    Args:
        dev, test: the lists as the one and as the other language model scored them.
        weights: to try with each share; None: all that there are.
        shares: to try.

    Of equally good pairs it is the one with the smallest weight, then with the smallest share: nearest to the
    first pass, then to the first model.

    Raises:
        InputError: as `quartet.nbest.rerank.tune_and_apply`.
        ValueError: the two did not score the same lists.
    """
    check_tunable(dev[0].lists, test[0].lists)
    found: dict[float, BestWeight] = {
        float(share): dev[0].mixed(dev[1], float(share)).best(weights) for share in shares
    }

    def rank(share: float) -> tuple[float, float, float]:
        best = found[share]
        return (-best.curve.better * best.value, best.weight, share)

    share = min(found, key=rank)
    mixed = [one.mixed(other, share) for one, other in (dev, test)]
    return Combination(share, tune_and_apply(mixed[0], mixed[1], weights), mixed[1])
