"""The lists that every step passes on: a hypothesis, the hypotheses of one utterance, and what a set of them holds."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One text that a recogniser or translator proposed.

    Attributes:
        text: may be empty (the recogniser heard nothing).
        score: the first pass's log-score, larger is better, always finite; None where the list has ranks
            only.
    """

    text: str
    score: float | None = None

    def __post_init__(self) -> None:
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"a hypothesis's score is {self.score}")


@dataclass(frozen=True, slots=True)
class NBest:
    """The hypotheses of one utterance, kept best first.

    Construction sorts them by descending score, equal scores in the order given; so the order of a file
    changes nothing but ties. Hypotheses without scores keep their order: it is all that is known of them.

    Attributes:
        utterance: the utterance's name, unique in its set.
        hypotheses: at least one.
        reference: the right text, possibly empty (silence); None where it is not known.
        rises, falls: in the order given, how many hypotheses had a higher, and a lower, score than the one before.

    Raises:
        ValueError: there is no hypothesis, something else stands among them, or some have a score and others none.

    >>> NBest("u1", (Hypothesis("a", -2.0), Hypothesis("b", -1.0))).hypotheses[0].text
    'b'
    """

    utterance: str
    hypotheses: tuple[Hypothesis, ...]
    reference: str | None = None
    rises: int = field(init=False, compare=False, repr=False, default=0)
    falls: int = field(init=False, compare=False, repr=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hypotheses", tuple(self.hypotheses))
        wrong = next((each for each in self.hypotheses if not isinstance(each, Hypothesis)), None)
        if wrong is not None:
            raise ValueError(f"{self.utterance}: a list is of Hypothesis objects, not of {wrong!r:.40}")
        if not self.hypotheses:
            raise ValueError(f"{self.utterance}: a list needs at least one hypothesis")
        scores = [hypothesis.score for hypothesis in self.hypotheses]
        known = [score for score in scores if score is not None]
        if known and len(known) < len(scores):
            raise ValueError(f"{self.utterance}: some hypotheses have a score and others have none")
        steps = list(itertools.pairwise(known))
        object.__setattr__(self, "rises", sum(before < after for before, after in steps))
        object.__setattr__(self, "falls", sum(before > after for before, after in steps))
        if self.rises:
            order = sorted(range(len(known)), key=lambda index: -known[index])
            object.__setattr__(self, "hypotheses", tuple(self.hypotheses[index] for index in order))

    def first(self, count: int | None) -> NBest:
        """The list with no more than its `count` best hypotheses; None: with all."""
        return self if count is None else replace(self, hypotheses=self.hypotheses[:count])

    @property
    def ranked_only(self) -> bool:
        """True where the first pass gave an order but no scores."""
        return self.hypotheses[0].score is None

    @property
    def first_pass(self) -> list[float]:
        """The first-pass score of each hypothesis; without scores the rank stands for them: 0, -1, -2, ..."""
        return [
            float(-rank) if hypothesis.score is None else hypothesis.score
            for rank, hypothesis in enumerate(self.hypotheses)
        ]


_SPACES = re.compile(r"\s\s+")


def words(text: str) -> list[str]:
    """The words of a text, split as jiwer's default transform splits it.

    A single tab or line break is no separator there; texts from `Normalisation` hold none.
    """
    return [word for word in _SPACES.sub(" ", text).strip().split(" ") if word]


def count(lists: Sequence[NBest]) -> dict[str, int]:
    """Counts of a set: lists, hypotheses, distinct texts, and the cases that a reader may want to know of."""
    texts = [hypothesis.text for one in lists for hypothesis in one.hypotheses]
    references = [one.reference for one in lists if one.reference is not None]
    return {
        "lists": len(lists),
        "hypotheses": len(texts),
        "distinct_texts": len(set(texts)),
        "longest_list": max((len(one.hypotheses) for one in lists), default=0),
        "empty_hypotheses": sum(not text.strip() for text in texts),
        "lists_without_scores": sum(one.ranked_only for one in lists),
        "missing_references": len(lists) - len(references),
        "empty_references": sum(not reference.strip() for reference in references),
        "reference_words": sum(len(words(reference)) for reference in references),
    }


def in_common(dev: Sequence[NBest], test: Sequence[NBest]) -> int:
    """How many lists of test are lists of dev too, by the texts and scores of two hypotheses or more.

    A weight that was chosen on them has seen their references, and their figure is better than that of other lists.
    """
    known = {one.hypotheses for one in dev}
    return sum(len(one.hypotheses) > 1 and one.hypotheses in known for one in test)
