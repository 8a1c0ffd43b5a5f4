"""Counting n-grams by sorting: every n-gram is a number, made of its first word and the number of the words after it.

So an n-gram of any order is one 64-bit key, and the numbers of an order are its n-grams sorted by their last word, then
the last but one, and so on: the order in which KenLM writes them.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quartet.ngram.tokens import END, START, UNKNOWN

#: The numbers of the reserved words; the others follow as they first occur.
UNKNOWN_ID, START_ID, END_ID = range(3)

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class RunningText:
    """A text as one array.

    Attributes:
        ids: (T,) word numbers, each sentence between START_ID and END_ID.
        words: (V,) the words, <unk>, <s> and </s> first.
    """

    ids: NDArray[np.uint32]
    words: list[str]


def running_text(sentences: Iterable[Sequence[str]]) -> RunningText:
    """Number the words of a text."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    for word in (UNKNOWN, START, END):
        numbers[word]
    ids = array("I")
    for tokens in sentences:
        ids.append(START_ID)
        ids.extend(map(numbers.__getitem__, tokens))
        ids.append(END_ID)
    return RunningText(np.frombuffer(ids, dtype=np.uint32) if ids else np.zeros(0, np.uint32), list(numbers))


@dataclass(frozen=True)
class NgramCounts:
    """All G n-grams of one order, by number.

    Attributes:
        first: (G,) the first word's number.
        rest: (G,) the n-gram without its first word: a number of the order below (of single words: 0).
        context: (G,) the n-gram without its last word, likewise.
        count: (G,) how often it occurs; the single words <s> and <unk> do so never.
    """

    first: NDArray[np.uint32]
    rest: Ints
    context: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.first)


def count_grams(text: RunningText, order: int) -> list[NgramCounts]:
    """The n-grams of orders 1 to `order`; <s> begins n-grams and is otherwise no word of them.

    Memory: 55 bytes a token at the most, and 16 an n-gram.
    """
    assert len(text.ids) < 2**31, "the numbers of n-grams have 32 bits"
    ids, size = text.ids, np.uint64(len(text.words))
    starts = np.flatnonzero(ids == START_ID)
    # depth_T: words since <s>; the n-gram that ends at t lies in one sentence where depth >= n - 1.
    depth = np.arange(len(ids), dtype=np.int32)
    depth -= np.repeat(starts.astype(np.int32), np.diff(starts, append=len(ids)))
    number = ids.astype(np.int32)  # number_T: of the n-gram that ends at t
    count = np.bincount(number, minlength=len(text.words)).astype(np.int32)
    count[START_ID] = 0
    nothing = np.zeros(len(text.words), dtype=np.int32)
    found = [NgramCounts(np.arange(len(text.words), dtype=np.uint32), nothing, nothing, count)]
    for n in range(2, order + 1):
        places = np.flatnonzero(depth >= n - 1)
        keys = number[places].astype(np.uint64)
        keys *= size
        keys += ids[places - (n - 1)]
        sorting = np.argsort(keys)
        keys, places = keys[sorting], places[sorting]
        new = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        at = np.flatnonzero(new)
        rest, first = np.divmod(keys[at], size)
        found.append(
            NgramCounts(
                first.astype(np.uint32),
                rest.astype(np.int32),
                number[places[at] - 1],
                np.diff(at, append=len(keys)).astype(np.int32),
            )
        )
        number = np.full(len(ids), -1, dtype=np.int32)
        number[places] = np.cumsum(new, dtype=np.int32) - 1
    return found


def adjusted_counts(grams: NgramCounts, longer: NgramCounts | None) -> Ints:
    """(G,) what Kneser-Ney counts: by how many different words an n-gram is preceded.

    Where none can precede it (it begins with <s>) or none is looked at (the highest order, `longer` None), that is how
    often it occurs.
    """
    if longer is None:
        return grams.count
    preceded = np.bincount(longer.rest, minlength=len(grams)).astype(np.int32)
    return np.where(grams.first == START_ID, grams.count, preceded)
