"""The bootstrap over utterances: against a plain loop, a known answer, and its edges."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.nbest.rerank import Selection
from quartet.nbest.significance import paired_bootstrap, wer_measure


def selection(errors: list[int], words: list[int]) -> Selection:
    return Selection(np.zeros(len(errors), dtype=np.int64), np.array(errors), np.array(words))


def random_selections(n: int, better: float) -> tuple[Selection, Selection]:
    """Two systems on the same n utterances; the first drops each error of the second with a probability."""
    generator = np.random.default_rng(3)
    words = generator.integers(3, 30, n)
    baseline = generator.binomial(words, 0.2)
    system = generator.binomial(baseline, 1 - better)
    return selection(system.tolist(), words.tolist()), selection(baseline.tolist(), words.tolist())


def test_the_interval_is_that_of_a_plain_resampling_loop() -> None:
    _, baseline = random_selections(120, better=0.2)
    measure = wer_measure(baseline, samples=4000, seed=1)
    generator = np.random.default_rng(99)
    rates = []
    for _ in range(4000):
        drawn = generator.integers(0, 120, 120)
        rates.append(baseline.errors[drawn].sum() / baseline.words[drawn].sum())
    assert measure.value == baseline.wer
    assert measure.n == 120
    assert (measure.ci_low, measure.ci_high) == pytest.approx(np.quantile(rates, [0.025, 0.975]), abs=0.002)


def test_a_difference_is_paired_and_far_surer_than_two_intervals() -> None:
    system, baseline = random_selections(300, better=0.1)
    comparison = paired_bootstrap(system, baseline, samples=4000, seed=1)
    difference = comparison.difference
    assert difference.value == pytest.approx(system.wer - baseline.wer)
    assert difference.ci_low is not None
    assert difference.ci_high is not None
    assert difference.ci_low < difference.value < difference.ci_high < 0
    assert comparison.p_value == pytest.approx(2 / 4001)
    whole = wer_measure(baseline, samples=4000, seed=1)
    assert whole.ci_low is not None
    assert whole.ci_high is not None
    assert difference.ci_high - difference.ci_low < (whole.ci_high - whole.ci_low) / 2


def test_p_is_symmetric_and_agrees_with_the_interval() -> None:
    for better, significant in ((0.0, False), (0.1, True)):
        system, baseline = random_selections(300, better)
        if not significant:  # as many better as worse
            errors = baseline.errors.copy()
            errors[:150] += 1
            errors[150:] = np.maximum(errors[150:] - 1, 0)
            system = selection(errors.tolist(), baseline.words.tolist())
        forth = paired_bootstrap(system, baseline, samples=2000, seed=2)
        back = paired_bootstrap(baseline, system, samples=2000, seed=2)
        assert forth.p_value == back.p_value
        assert (forth.p_value < 0.05) == significant
        assert forth.difference.ci_low is not None
        assert forth.difference.ci_high is not None
        assert (forth.difference.ci_low <= 0 <= forth.difference.ci_high) != significant


def test_equal_systems_do_not_differ() -> None:
    _, baseline = random_selections(50, better=0.0)
    comparison = paired_bootstrap(baseline, baseline, samples=500, seed=1)
    assert comparison.p_value == 1.0
    assert comparison.difference.value == comparison.difference.ci_low == comparison.difference.ci_high == 0.0


def test_the_seed_decides() -> None:
    _, baseline = random_selections(80, better=0.0)
    assert wer_measure(baseline, 500, seed=1) == wer_measure(baseline, 500, seed=1)
    assert wer_measure(baseline, 500, seed=1) != wer_measure(baseline, 500, seed=2)


def test_edges() -> None:
    one = selection([1], [4])
    assert wer_measure(one, 100, 0).ci_low is None
    assert paired_bootstrap(one, one, 100, 0).difference.ci_low is None
    silent = selection([2, 0], [0, 0])
    assert wer_measure(silent, 100, 0).value == 2.0
    with pytest.raises(ValueError, match="no utterance"):
        wer_measure(selection([], []), 100, 0)
    with pytest.raises(ValueError, match="same utterances"):
        paired_bootstrap(one, selection([1], [5]), 100, 0)
