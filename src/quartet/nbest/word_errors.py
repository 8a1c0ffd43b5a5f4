"""Word errors of every hypothesis against its reference, counted once for a set and equal to jiwer's.

jiwer aligns with rapidfuzz and then builds Python objects of every alignment; here only the distance is
taken, an equal text of a list is aligned once, and a test holds the figures equal to `jiwer.process_words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from quartet.nbest.types import NBest

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


def corpus_wer(errors: NDArray[np.int64], words: NDArray[np.int64]) -> float:
    """Errors over reference words of a corpus; without reference words the errors themselves, as in jiwer."""
    total = int(words.sum())
    return float(errors.sum() / total) if total else float(errors.sum())


@dataclass(frozen=True)
class ErrorTable:
    """The word errors of a whole set of U lists with H hypotheses, flat.

    Attributes:
        offsets: (U + 1,) the hypotheses of list u are offsets[u] to offsets[u + 1].
        errors: (H,) word errors; 0 where the list has no reference (see `referenced`).
        words: (U,) words of the reference; 0 where there is none.
        referenced: (U,) True where the list has a reference. The others are left out of every WER.
    """

    offsets: NDArray[np.int64]
    errors: NDArray[np.int64]
    words: NDArray[np.int64]
    referenced: NDArray[np.bool_]

    @classmethod
    def of(cls, lists: Iterable[NBest]) -> ErrorTable:
        """Align every hypothesis of the lists with its reference."""
        offsets, errors, lengths, referenced = [0], [], [], []
        for one in lists:
            found, length = [0] * len(one.hypotheses), 0
            if one.reference is not None:
                found, length = count_errors(one.reference, [each.text for each in one.hypotheses])
            errors.extend(found)
            lengths.append(length)
            referenced.append(one.reference is not None)
            offsets.append(len(errors))
        return cls(
            np.array(offsets, dtype=np.int64),
            np.array(errors, dtype=np.int64),
            np.array(lengths, dtype=np.int64),
            np.array(referenced, dtype=np.bool_),
        )
