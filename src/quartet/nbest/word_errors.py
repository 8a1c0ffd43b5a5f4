"""Word errors of every hypothesis against its reference, equal to jiwer's.

jiwer aligns with rapidfuzz and then builds Python objects of every alignment; here only the distance is
taken, an equal text of a list is aligned once, and a test holds the figures equal to `jiwer.process_words`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from rapidfuzz.distance import Levenshtein

from quartet.nbest.metrics import Counts
from quartet.statistics.intervals import Floats

_SPACES = re.compile(r"\s\s+")


def words(text: str) -> list[str]:
    """The words of a text, split as jiwer's default transform splits it.

    A single tab or line break is no separator there; texts from `Normalisation` hold none.
    """
    return [word for word in _SPACES.sub(" ", text).strip().split(" ") if word]


def count_errors(reference: str, hypotheses: Sequence[str]) -> tuple[list[int], int]:
    """Substitutions + insertions + deletions of each hypothesis, and the reference's number of words.

    An empty reference is legal: every word of a hypothesis is an insertion and an empty hypothesis is right.
    """
    ids: dict[str, int] = {}

    def encode(text: str) -> list[int]:
        return [ids.setdefault(word, len(ids)) for word in words(text)]

    target = encode(reference)
    known: dict[str, int] = {}
    for text in hypotheses:
        if text not in known:
            known[text] = Levenshtein.distance(target, encode(text))
    return [known[text] for text in hypotheses], len(target)


@dataclass(frozen=True)
class WordErrorRate:
    """The corpus word error rate in percent; the counts are word errors and the reference's words.

    Without any reference word it is 100 times the errors themselves, as jiwer has it.
    """

    name: ClassVar[str] = "wer"
    better: ClassVar[int] = -1
    columns: ClassVar[int] = 2

    def counts(self, reference: str, hypotheses: Sequence[str]) -> Counts:
        """(N, 2) errors and words."""
        errors, length = count_errors(reference, hypotheses)
        return np.array([(each, length) for each in errors], dtype=np.int64)

    def corpus(self, totals: Counts | Floats) -> Floats:
        """(B,) rates of (B, 2) sums."""
        rates: Floats = 100.0 * (totals[:, 0] / np.where(totals[:, 1] > 0, totals[:, 1], 1))
        return rates

    def merit(self, counts: Counts) -> Floats:
        """(N,) minus the errors."""
        return -counts[:, 0].astype(np.float64)
