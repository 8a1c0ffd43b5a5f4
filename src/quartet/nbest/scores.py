"""Language-model scores of every hypothesis of a set, each distinct text scored once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from quartet.nbest.types import NBest


def score_lists(
    lists: Sequence[NBest], score: Callable[[list[str]], Sequence[float]]
) -> list[NDArray[np.float64]]:
    """One array a list with the score of each of its hypotheses, in their order.

    Args:
        lists: the lists, already normalised.
        score: a model's scorer: texts -> one finite log-score each (a sum or a mean over tokens, as the
            caller likes). It is called once, with the distinct texts in order of first appearance.

    An empty hypothesis has few or no tokens to pay for, so a sum would prefer it to all others. Where its own
    score is not below all of its list's hypotheses with words, it gets the next number below them: no
    language model makes it win by being empty.

    Raises:
        ValueError: the scorer gave another number of scores, or one that is not finite (it names the text).
    """
    places: dict[str, int] = {}
    for one in lists:
        for hypothesis in one.hypotheses:
            places.setdefault(hypothesis.text, len(places))
    texts = list(places)
    values = np.asarray(score(texts), dtype=np.float64)
    if values.shape != (len(texts),):
        raise ValueError(f"the scorer gave {values.shape} scores for {len(texts)} texts")
    if not np.isfinite(values).all():
        wrong = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"the scorer gave {values[wrong]} for the text {texts[wrong]!r}")
    return [_of_list(one, values[[places[each.text] for each in one.hypotheses]]) for one in lists]


def _of_list(one: NBest, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores of one list, with its empty hypotheses held down."""
    empty = np.array([not hypothesis.text.strip() for hypothesis in one.hypotheses])
    if empty.any() and not empty.all():
        below = np.nextafter(scores[~empty].min(), -np.inf)
        scores[empty] = np.minimum(scores[empty], below)
    return scores
