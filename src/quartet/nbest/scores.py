"""Language-model scores of every hypothesis of a set, each distinct text scored once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from quartet.arguments import check_choice
from quartet.config.choices import ScoreReduction
from quartet.nbest.types import NBest


def score_texts(
    token_logprobs: Callable[[list[str]], Sequence[NDArray[np.float64]]], scoring: ScoreReduction
) -> Callable[[list[str]], list[float]]:
    """A scorer for `score_lists` from a model's token log-probabilities.

    A text without any token has the score 0 by either scoring; see `score_lists` for what becomes of it.

    Args:
        token_logprobs: texts -> natural log-probabilities of each one's tokens.

    Raises:
        InputError: there is no such scoring.
    """
    check_choice(scoring, get_args(ScoreReduction), "score")

    def score(texts: list[str]) -> list[float]:
        found = token_logprobs(texts)
        sizes = [max(1, len(logprobs)) if scoring == "mean" else 1 for logprobs in found]
        return [float(logprobs.sum()) / size for logprobs, size in zip(found, sizes, strict=True)]

    return score


def texts_of(lists: Iterable[NBest]) -> list[str]:
    """The distinct hypotheses of a set, in order of first appearance: what `score_lists` asks for."""
    return list(dict.fromkeys(each.text for one in lists for each in one.hypotheses))


def score_lists(
    lists: Sequence[NBest], score: Callable[[list[str]], Sequence[float]]
) -> list[NDArray[np.float64]]:
    """One array a list with the score of each of its hypotheses, in their order.

    Args:
        lists: the lists, already normalised.
        score: a model's scorer: texts -> one finite log-score each (a sum or a mean over tokens, as the
            caller likes). It is called once, with the distinct texts in order of first appearance.

    A hypothesis without words has few or no tokens to pay for, so a sum would prefer it to all others, and the
    mean of none is 0. Where its own score is not below all of its list's hypotheses with words, it gets the
    next number below them: no language model makes it win by being empty. In a list without any word it keeps
    its own score, at most 0.

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
    wordless = np.array([not has_words(text) for text in texts], dtype=np.bool_)
    found = []
    for one in lists:
        indices = [places[each.text] for each in one.hypotheses]
        found.append(_of_list(values[indices], wordless[indices]))
    return found


def has_words(text: str) -> bool:
    """Whether anything in a text can be read: not white space, control signs and lone accents alone.

    Tokenizers drop such signs, so that to a model those texts are empty.
    """
    return any(unicodedata.category(sign)[0] not in "ZCM" for sign in text)


def _of_list(scores: NDArray[np.float64], wordless: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The scores of one list, with its hypotheses without words held down."""
    if wordless.any():
        below = 0.0 if wordless.all() else min(0.0, np.nextafter(scores[~wordless].min(), -np.inf))
        scores[wordless] = np.minimum(scores[wordless], below)
    return scores
