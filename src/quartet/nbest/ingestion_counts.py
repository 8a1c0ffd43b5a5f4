"""What a set of lists holds, for the ingestion's manifest: nothing is dropped without being counted."""

from __future__ import annotations

from collections.abc import Sequence

from quartet.nbest.types import NBest
from quartet.nbest.word_errors import words


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
