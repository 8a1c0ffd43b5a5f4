"""What the committed report of the sample must hold."""

from __future__ import annotations

import pytest

from quartet.results import Result, read_results
from tests.committed import report_rows

Rows = list[Result]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return read_results(report_rows("sample"))


def one(rows: Rows, table: str, system: str, split: str, metric: str) -> Result:
    found = [
        row
        for row in rows
        if (row.table, row.system, row.split, row.metric) == (table, system, split, metric)
    ]
    assert len(found) == 1, (table, system, split, metric)
    return found[0]


def test_tta_learns_context_and_not_frequencies_alone(rows: Rows) -> None:
    entropy = one(rows, "training", "unigram", "valid", "loss")
    loss = one(rows, "training", "tta", "valid", "loss")
    assert loss.value <= entropy.value - 0.3
    assert 0.99 * entropy.n <= loss.n <= entropy.n, "of the same tokens, but for ends of over-long sentences"


@pytest.mark.parametrize("name", ["unilm", "bilm", "tta"])
def test_models_of_sentences_have_left_the_frequencies_alone(rows: Rows, name: str) -> None:
    gain = one(rows, "perplexity", name, "test", "gain")
    assert gain.ci_low is not None
    assert gain.ci_low > 0, "below the unigram entropy of the same test tokens, with all of its interval"


def test_the_tta_that_comes_with_the_project_lowers_the_word_error_rate(rows: Rows) -> None:
    change = one(rows, "rerank", "tta-books", "test", "wer-difference")
    assert change.ci_high is not None
    assert change.ci_high < 0


def test_models_of_a_family_are_of_one_size_and_trained_for_equally_many_steps(rows: Rows) -> None:
    trained = [row for row in rows if row.table == "training" and row.metric == "parameters"]
    scales = {row.system: row.scale.rpartition(", ")[0] for row in trained}  # all but the share of targets
    sizes = {row.system: row.value for row in rows if row.table == "training" and row.metric == "parameters"}
    for family in (("unilm", "bilm", "tta"), ("transformer-xl", "segatron-xl")):
        assert len({scales[name] for name in family}) == 1
        assert len({sizes[name] for name in family}) == 1


def test_every_score_has_an_interval_that_holds_it(rows: Rows) -> None:
    """But the F1 of the baseline that finds nothing, 0 in every text: what does not differ has none."""
    for row in rows:
        if (row.system, row.metric) == ("majority", "f1"):
            assert (row.value, row.ci_low, row.ci_high) == (0.0, None, None)
            continue
        if row.metric in ("ppl", "pppl", "wer", "pearson", "spearman", "accuracy", "f1"):
            assert row.ci_low is not None and row.ci_high is not None, row
            assert row.ci_low <= row.value <= row.ci_high, row


def test_an_oracle_is_no_worse_than_any_reranking(rows: Rows) -> None:
    wer = {
        row.system: row.value
        for row in rows
        if (row.table, row.split, row.metric) == ("rerank", "test", "wer")
    }
    assert {"first-pass", "oracle", "unilm", "bilm", "bilm-intact", "tta"} <= set(wer)
    assert all(wer["oracle"] <= value for value in wer.values())
