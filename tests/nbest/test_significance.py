"""The bootstrap over utterances: against a plain loop, a known answer, and its edges."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sacrebleu
from scipy.stats import norm, t

from quartet.nbest.metrics import Bleu, WordErrorRate
from quartet.nbest.rerank import Selection
from quartet.nbest.significance import detectable, measure, paired_bootstrap
from quartet.nbest.units import ResampledUnits, units_of
from quartet.statistics import intervals
from quartet.statistics.intervals import resample_counts, tail


def selection(errors: list[int], words: list[int]) -> Selection:
    counts = np.array(list(zip(errors, words, strict=True)), dtype=np.int64).reshape(-1, 2)
    names = [f"u{number}" for number in range(len(errors))]
    return Selection(np.zeros(len(errors), dtype=np.int64), counts, WordErrorRate(), units_of(names))


def random_selections(n: int, better: float) -> tuple[Selection, Selection]:
    """Two systems on the same n utterances; the first drops each error of the second with a probability."""
    generator = np.random.default_rng(3)
    words = generator.integers(3, 30, n)
    baseline = generator.binomial(words, 0.2)
    system = generator.binomial(baseline, 1 - better)
    return selection(system.tolist(), words.tolist()), selection(baseline.tolist(), words.tolist())


def test_the_interval_is_that_of_a_plain_resampling_loop() -> None:
    _, baseline = random_selections(120, better=0.2)
    found = measure(baseline, samples=4000, seed=1)
    generator = np.random.default_rng(99)
    rates = []
    for _ in range(4000):
        drawn = generator.integers(0, 120, 120)
        rates.append(100 * baseline.counts[drawn, 0].sum() / baseline.counts[drawn, 1].sum())
    assert found.value == baseline.value
    assert found.n == 120
    assert (found.ci_low, found.ci_high) == pytest.approx(np.quantile(rates, [0.025, 0.975]), abs=0.2)


def test_a_difference_is_paired_and_far_surer_than_two_intervals() -> None:
    system, baseline = random_selections(300, better=0.1)
    difference = paired_bootstrap(system, baseline, samples=10_000, seed=1)
    assert difference.value == pytest.approx(system.value - baseline.value)
    assert difference.ci_low is not None
    assert difference.ci_high is not None
    assert difference.ci_low < difference.value < difference.ci_high < 0
    assert (difference.units, difference.unit) == (300, "utterances")
    assert difference.p == pytest.approx(2 * t.sf(norm.isf(1 / 10_001) * np.sqrt(299 / 300), 299))
    whole = measure(baseline, samples=4000, seed=1)
    assert whole.ci_low is not None
    assert whole.ci_high is not None
    assert difference.ci_high - difference.ci_low < (whole.ci_high - whole.ci_low) / 2


def test_p_is_symmetric_and_agrees_with_the_interval() -> None:
    for better, significant in ((0.0, False), (0.1, True)):
        system, baseline = random_selections(300, better)
        if not significant:  # as many better as worse
            errors = baseline.counts[:, 0].copy()
            errors[:150] += 1
            errors[150:] = np.maximum(errors[150:] - 1, 0)
            system = selection(errors.tolist(), baseline.counts[:, 1].tolist())
        forth = paired_bootstrap(system, baseline, samples=10_000, seed=2)
        back = paired_bootstrap(baseline, system, samples=10_000, seed=2)
        assert forth.p is not None
        assert forth.p == pytest.approx(back.p)
        assert (forth.p < 0.05) == significant
        assert forth.ci_low is not None
        assert forth.ci_high is not None
        assert (forth.ci_low <= 0 <= forth.ci_high) != significant


def test_equal_systems_do_not_differ() -> None:
    _, baseline = random_selections(50, better=0.0)
    difference = paired_bootstrap(baseline, baseline, samples=10_000, seed=1)
    assert difference.p == 1.0
    assert (difference.value, difference.ci_low) == (0.0, None), "no utterance differs"


def test_the_seed_decides() -> None:
    _, baseline = random_selections(80, better=0.0)
    assert measure(baseline, 500, seed=1) == measure(baseline, 500, seed=1)
    assert measure(baseline, 500, seed=1) != measure(baseline, 500, seed=2)


def test_edges() -> None:
    one = selection([1], [4])
    assert measure(one, 100, 0).ci_low is None
    alone = paired_bootstrap(one, one, 10_000, 0)
    assert (alone.ci_low, alone.p, detectable(alone)) == (None, None, None)
    silent = selection([2, 0], [0, 0])
    assert measure(silent, 100, 0).value == 200.0
    with pytest.raises(ValueError, match="no utterance"):
        measure(selection([], []), 100, 0)
    with pytest.raises(ValueError, match="same utterances and metric"):
        paired_bootstrap(one, selection([1], [5]), 100, 0)


def bleu_selections(n: int) -> tuple[Selection, Selection, list[tuple[str, str, str]]]:
    """Two systems' texts for n utterances, with their references."""
    generator = random.Random(8)
    metric = Bleu()
    texts = []
    for _ in range(n):
        reference = [generator.choice("abcdefgh") for _ in range(12)]
        one, other = (
            [word if generator.random() < right else "x" for word in reference] for right in (0.8, 0.7)
        )
        texts.append((" ".join(reference), " ".join(one), " ".join(other)))
    counts = np.stack([metric.counts(reference, both) for reference, *both in texts])
    zeros = np.zeros(n, dtype=np.int64)
    ours, theirs = (
        Selection(zeros, each, metric, ResampledUnits("utterances", np.arange(n)))
        for each in np.moveaxis(counts, 1, 0)
    )
    return ours, theirs, texts


def test_speakers_are_resampled_as_wholes() -> None:
    """Six utterances a speaker, alike: the interval is that of the speakers' sums, and wider."""
    generator = np.random.default_rng(7)
    words = generator.integers(5, 20, 120)
    rate = np.repeat(generator.uniform(0, 0.4, 20), 6)
    errors = generator.binomial(words, rate)
    names = [f"{number // 6}-{number}" for number in range(120)]
    counts = np.stack([errors, words], axis=1)
    zeros = np.zeros(120, dtype=np.int64)
    alone, speakers = (
        measure(Selection(zeros, counts, WordErrorRate(), units_of(names, unit)), 4000, 1)
        for unit in ("utterance", "speaker")
    )
    sums = counts.reshape(20, 6, 2).sum(axis=1)
    drawn = sums[np.random.default_rng(5).integers(0, 20, (4000, 20))].sum(axis=1)
    ends = np.quantile(100 * drawn[:, 0] / drawn[:, 1], [tail(20), 1 - tail(20)])
    assert (speakers.ci_low, speakers.ci_high) == pytest.approx(ends, abs=0.4)
    assert (speakers.units, speakers.unit, speakers.n) == (20, "speakers", 120)
    assert (alone.units, alone.unit) == (120, "utterances")
    assert alone.ci_low is not None and alone.ci_high is not None
    assert ends[1] - ends[0] > 1.5 * (alone.ci_high - alone.ci_low)
    assert speakers.value == alone.value


def test_a_resample_of_bleu_is_sacrebleus_own_figure_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    system, baseline, texts = bleu_selections(40)
    monkeypatch.setattr(intervals, "LEAST_DRAWS", 300)  # sacrebleu takes long
    found = paired_bootstrap(system, baseline, samples=300, seed=5)
    replicates = []
    for counts in resample_counts(40, 300, 5):
        for row in counts.astype(int):
            drawn = [text for text, times in zip(texts, row, strict=True) for _ in range(times)]
            references = [[reference for reference, _, _ in drawn]]
            ours, theirs = (
                sacrebleu.corpus_bleu([text[place] for text in drawn], references).score for place in (1, 2)
            )
            replicates.append(ours - theirs)
    ends = np.quantile(replicates, [tail(40), 1 - tail(40)])
    assert found.ci_low == pytest.approx(ends[0], abs=1e-9)
    assert found.ci_high == pytest.approx(ends[1], abs=1e-9)
    assert found.value == system.value - baseline.value > 0
    assert found.p is not None
    assert found.p < 0.05


def test_the_smallest_detectable_difference_is_found_four_times_in_five(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intervals, "LEAST_DRAWS", 400)
    generator = np.random.default_rng(2)
    n, trials = 150, 200
    words = np.full(n, 20)

    def drawn(gain: float) -> tuple[Selection, Selection]:
        """Two systems of which one has `gain` errors fewer an utterance on average."""
        base = generator.poisson(4.0, n) + 3
        change = generator.integers(-2, 3, n) + (generator.random(n) < gain)
        return selection((base - change).tolist(), words.tolist()), selection(base.tolist(), words.tolist())

    said = [detectable(paired_bootstrap(*drawn(0.0), samples=400, seed=1)) for _ in range(5)]
    smallest = float(np.mean([each for each in said if each is not None]))
    found = 0
    for seed in range(trials):
        difference = paired_bootstrap(*drawn(smallest * 20 / 100), samples=400, seed=seed)
        assert difference.p is not None
        found += difference.p < 0.05
    assert 0.7 < found / trials < 0.9
