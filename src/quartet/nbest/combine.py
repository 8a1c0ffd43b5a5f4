"""Two language models together: (1 - weight) * first pass + weight * ((1 - share) * one + share * the other)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quartet.nbest.rerank import BestWeight, Candidates, Reranking, check_tunable, tune_and_apply
from quartet.statistics.intervals import Floats


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
