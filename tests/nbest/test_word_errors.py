"""Our word errors are jiwer's, hypothesis by hypothesis and for the corpus."""

from __future__ import annotations

import jiwer
import numpy as np
import pytest

from quartet.nbest.word_errors import ErrorTable, corpus_wer, count_errors, words
from tests.nbest.lists import nbest, random_lists


def test_every_hypothesis_and_the_corpus_agree_with_jiwer() -> None:
    lists = random_lists(300, seed=4)
    table = ErrorTable.of(lists)
    references, hypotheses, errors = [], [], []
    for index, one in enumerate(lists):
        start, end = table.offsets[index], table.offsets[index + 1]
        assert end - start == len(one.hypotheses)
        assert table.referenced[index] == (one.reference is not None)
        for hypothesis, found in zip(one.hypotheses, table.errors[start:end], strict=True):
            if one.reference is None:
                continue
            theirs = jiwer.process_words(one.reference, hypothesis.text)
            assert found == theirs.substitutions + theirs.insertions + theirs.deletions
            assert table.words[index] == theirs.hits + theirs.substitutions + theirs.deletions
            references.append(one.reference)
            hypotheses.append(hypothesis.text)
            errors.append((found, table.words[index]))
    assert len(errors) > 1000
    ours = corpus_wer(np.array([each[0] for each in errors]), np.array([each[1] for each in errors]))
    assert ours == jiwer.wer(references, hypotheses)


@pytest.mark.parametrize(
    "text", ["", "  ", " a  b ", "a\tb", "a\t b", "a\n\nb", "a\u00a0b", "a\u2003\u2003b", "été"]
)
def test_words_are_split_as_jiwer_splits_them(text: str) -> None:
    assert words(text) == jiwer.process_words("x", text).hypotheses[0]


def test_an_empty_reference_counts_insertions_and_no_words() -> None:
    assert count_errors("", ["", "two words", " "]) == ([0, 2, 0], 0)
    table = ErrorTable.of([nbest("silence", "", ("two words", -1.0)), nbest("u", "a b", ("a", -1.0))])
    assert corpus_wer(table.errors, table.words) == 3 / 2 == jiwer.wer(["", "a b"], ["two words", "a"])
    only = ErrorTable.of([nbest("silence", "", ("two words", -1.0))])
    assert corpus_wer(only.errors, only.words) == 2 == jiwer.wer([""], ["two words"])


def test_a_missing_reference_is_marked_not_counted() -> None:
    table = ErrorTable.of([nbest("u", None, ("a", -1.0), ("b", -2.0)), nbest("v", "b", ("a", -1.0))])
    assert table.referenced.tolist() == [False, True]
    assert table.errors.tolist() == [0, 0, 1]
    assert table.words.tolist() == [0, 1]
