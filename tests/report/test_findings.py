"""What the page says of the kept differences and gains: only what their intervals bear."""

from __future__ import annotations

import dataclasses

import pytest

from quartet.report import findings
from quartet.report.run_report import Report
from quartet.report.tables import times
from quartet.results import Result
from tests.report.synthetic import facts, results, row, timings

PAIR = "perplexity-pairs", "bilm - tta", "wikipedia-sample", "test", "loss-difference"
GAIN = "perplexity", "bilm", "wikipedia-sample", "test", "gain"


def about(rows: list[Result], words: str) -> str:
    """The one sentence that begins with these words; "" where there is none."""
    (said,) = [one for one in findings.sentences(Report(rows, facts())) if one.startswith(words)] or [""]
    return said


@pytest.mark.parametrize(
    ("value", "half", "said"),
    [(-0.1, 0.02, "1 of 1 differences are significant: `bilm - tta` (-0.1000 [-0.1200, -0.0800] p 0.012)"),
     (0.01, 0.02, "0 of 1 differences are significant."), (0.1, None, "0 of 1 differences are significant.")],
)  # fmt: skip
def test_a_difference_is_significant_where_its_interval_leaves_out_0(
    value: float, half: float | None, said: str
) -> None:
    assert said in about([row(*PAIR, value, 13_200, half)], "Perplexity: models")


def test_an_interval_without_p_is_from_too_few_draws_and_significant_nowhere() -> None:
    said = about([dataclasses.replace(row(*PAIR, -0.1, 13_200, 0.02), p=None)], "Perplexity: models")
    assert "significant" not in said and "bilm - tta" not in said


def test_a_difference_to_the_first_pass_stands_in_the_table_of_the_lists() -> None:
    said = about(results(), "Reranking, `sample-speech` test, wer")
    assert "`tta` (-1.54 [-2.94, -0.14] p 0.012)" in said and "`unilm`" not in said
    assert about(results(), "Reranking, `sample-speech` dev") == "", "the weight was chosen there"


def test_the_interval_of_several_seeds_holds_that_of_each() -> None:
    seeds = [row(*PAIR, value, 13_200, 0.02, seed) for seed, value in ((1, -0.1), (2, 0.0))]
    assert "0 of 1 differences" in about(seeds, "Perplexity: models")


def test_the_units_of_a_difference_are_said() -> None:
    one = dataclasses.replace(row(*PAIR, -0.1, 13_200, 0.02), units=29, unit="documents")
    assert "(n = 13,200, over 29 documents)" in about([one], "Perplexity: models")


@pytest.mark.parametrize(("value", "half"), [(0.1, 0.2), (-0.2, 0.1), (-0.2, None)])
def test_a_model_that_is_not_below_the_unigram_is_in_no_comparison(value: float, half: float | None) -> None:
    rows = [row(*PAIR, -0.1, 13_200, 0.02), row(*GAIN, value, 13_200, half)]
    assert "Not below it, and in no comparison: `bilm`" in about(rows, "Loss on `wikipedia-sample` test")
    assert about(rows, "Perplexity: models") == ""


@pytest.mark.parametrize("half", [0.1, None])
def test_a_model_below_the_unigram_is_compared(half: float | None) -> None:
    """Too few documents give no interval: the gain itself decides then."""
    rows = [row(*PAIR, -0.1, 13_200, 0.02), row(*GAIN, 0.4, 13_200, half)]
    assert "in no comparison" not in about(rows, "Loss on `wikipedia-sample` test")
    assert "1 of 1 differences" in about(rows, "Perplexity: models")


def test_differences_of_any_table_have_their_sentence() -> None:
    one = row("blimp-pairs", "tta - unilm", "blimp", "test", "accuracy-difference", 0.021, 4000, 0.01)
    assert "`tta - unilm` (+2.1 [+1.1, +3.1] p 0.012)" in about(
        [one], "Minimal pairs (BLiMP), `blimp` test, accuracy"
    )
    dev = dataclasses.replace(one, split="dev")
    assert "1 of 1 differences" in about([dev], "Minimal pairs (BLiMP), `blimp` dev")
    assert about([one, dev], "Minimal pairs (BLiMP), `blimp` dev") == "", "test is there"
    part = dataclasses.replace(one, dataset="blimp/phenomenon/island_effects")
    assert about([part], "Minimal pairs") == "", "parts of a set have none"
    odd = row("odd-pairs", "a - b", "d", "test", "x-difference", 0.5, 9, 0.1)
    assert "1 of 1 differences" in about([odd], "odd-pairs, `d` test, x")
    assert findings.sentences(Report([], facts())) == []


def test_the_time_ratio_has_its_own_interval_and_the_nearest_length_is_compared() -> None:
    (said, *_) = times(timings(), facts()).findings.lines
    assert (
        "at 20 words" in said.lower() and "`bilm` 4.91 [4.72, 5.11] times `tta`'s" in said and "12.7" in said
    )
    rows = [one for one in timings() if one.dataset in ("1-words", "10-words")]
    (said, *_) = times(rows, facts()).findings.lines
    assert "10 words" in said and "`bilm` 2.75" in said
