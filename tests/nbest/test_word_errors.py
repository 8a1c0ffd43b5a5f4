"""Our word errors are jiwer's, hypothesis by hypothesis and for the corpus."""

from __future__ import annotations

import jiwer
import numpy as np
import pytest

from quartet.nbest.metrics import CountTable
from quartet.nbest.types import NBest
from quartet.nbest.word_errors import WordErrorRate, count_errors, words
from tests.nbest.lists import nbest, random_lists

METRIC = WordErrorRate()


def rate(lists: list[NBest]) -> float:
    """The rate of all hypotheses of lists with references together."""
    return float(METRIC.corpus(CountTable.of(lists, METRIC).counts.sum(axis=0, keepdims=True))[0])


def test_every_hypothesis_and_the_corpus_agree_with_jiwer() -> None:
    lists = random_lists(300, seed=4)
    table = CountTable.of(lists, METRIC)
    references, hypotheses, counts = [], [], []
    for index, one in enumerate(lists):
        start, end = table.offsets[index], table.offsets[index + 1]
        assert end - start == len(one.hypotheses)
        assert table.referenced[index] == (one.reference is not None)
        for hypothesis, found in zip(one.hypotheses, table.counts[start:end], strict=True):
            if one.reference is None:
                continue
            theirs = jiwer.process_words(one.reference, hypothesis.text)
            errors = theirs.substitutions + theirs.insertions + theirs.deletions
            assert found.tolist() == [errors, theirs.hits + theirs.substitutions + theirs.deletions]
            references.append(one.reference)
            hypotheses.append(hypothesis.text)
            counts.append(found)
    assert len(counts) > 1000
    ours = METRIC.corpus(np.sum(counts, axis=0, keepdims=True))
    assert ours.tolist() == [100 * jiwer.wer(references, hypotheses)]


@pytest.mark.parametrize(
    "text", ["", "  ", " a  b ", "a\tb", "a\t b", "a\n\nb", "a\u00a0b", "a\u2003\u2003b", "été"]
)
def test_words_are_split_as_jiwer_splits_them(text: str) -> None:
    assert words(text) == jiwer.process_words("x", text).hypotheses[0]


def test_an_empty_reference_counts_insertions_and_no_words() -> None:
    assert count_errors("", ["", "two words", " "]) == ([0, 2, 0], 0)
    silence = nbest("silence", "", ("two words", -1.0))
    known = nbest("u", "a b", ("a", -1.0))
    assert rate([silence, known]) == 150 == 100 * jiwer.wer(["", "a b"], ["two words", "a"])
    assert rate([silence]) == 200 == 100 * jiwer.wer([""], ["two words"])


def test_a_missing_reference_is_marked_not_counted() -> None:
    lists = [nbest("u", None, ("a", -1.0), ("b", -2.0)), nbest("v", "b", ("a", -1.0))]
    table = CountTable.of(lists, METRIC)
    assert table.referenced.tolist() == [False, True]
    assert table.counts.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert table.merit.tolist() == [0.0, 0.0, -1.0]
