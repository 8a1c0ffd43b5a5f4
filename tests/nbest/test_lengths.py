"""The parts of a choice by length are the whole, and each list is in the range of its reference."""

from __future__ import annotations

import numpy as np

from quartet.nbest.lengths import by_length
from quartet.nbest.rerank import Candidates
from tests.nbest.lists import nbest, random_lists
from tests.nbest.test_rerank import toy_scores


def test_lists_fall_into_the_range_of_their_reference() -> None:
    lists = [
        nbest("a", "", ("x", -1.0)),
        nbest("b", None, ("x", -1.0)),
        nbest("c", "one two", ("one", -1.0), ("one two", -2.0)),
        nbest("d", "one two three", ("x", -1.0)),
    ]
    subject = Candidates(lists, [np.arange(len(one.hypotheses), dtype=float) for one in lists])
    parts = dict(by_length(subject.select(1.0), lists, [2, 9, 20]))
    assert {name: part.counts.tolist() for name, part in parts.items()} == {
        "0-2": [[1, 0], [0, 2]],
        "3-9": [[3, 3]],
    }
    assert parts["0-2"].chosen.tolist() == [0, 1]
    assert list(dict(by_length(subject.select(1.0), lists, []))) == ["0-"]


def test_the_parts_together_are_the_whole() -> None:
    lists = random_lists(80, seed=11)
    selection = Candidates(lists, [toy_scores(one) for one in lists]).select(0.5)
    parts = [part for _, part in by_length(selection, lists, [1, 3, 6])]
    assert np.array_equal(sum(part.counts.sum(axis=0) for part in parts), selection.counts.sum(axis=0))
    assert sum(len(part.counts) for part in parts) == len(selection.counts)
