"""Perplexity: hand-counted values, the unigram baseline, documents as units, and refusals."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections import Counter

import numpy as np
import pytest

from quartet.statistics.intervals import tail
from quartet.statistics.perplexity import (
    TokenIds,
    UnknownWords,
    gain,
    perplexity_measures,
    unigram_entropy,
    unigram_logprobs,
)

LOGPROBS = [np.log([0.5, 0.25]), np.log([0.125]), np.array([]), np.log([0.5, 0.5, 0.5])]
WORDS = [1, 1, 0, 2]


def test_values_by_hand() -> None:
    found = perplexity_measures(LOGPROBS, WORDS, pseudo=False, samples=100, seed=1)
    bits = 1 + 2 + 3 + 3  # of the six tokens
    assert list(found) == ["loss", "ppl", "ppl-mean", "ppl-median", "ppl-word"]
    assert found["loss"].value == pytest.approx(bits * math.log(2) / 6)
    assert found["ppl"].value == pytest.approx(2 ** (bits / 6))
    assert found["ppl-mean"].value == pytest.approx((2**1.5 + 8 + 2) / 3)
    assert found["ppl-median"].value == pytest.approx(2**1.5)
    assert found["ppl-word"].value == pytest.approx(2 ** (bits / 4))
    assert [measure.n for measure in found.values()] == [6, 6, 3, 3, 4]
    assert {measure.ci_low for measure in found.values()} == {None}, "of three texts"
    for measure in perplexity_measures(LOGPROBS * 4, WORDS * 4, False, samples=100, seed=1).values():
        assert measure.ci_low is not None
        assert measure.ci_high is not None
        assert measure.ci_low <= measure.value <= measure.ci_high


def test_pseudo_perplexities_have_their_own_names() -> None:
    found = perplexity_measures(LOGPROBS, WORDS, pseudo=True, samples=10, seed=1)
    assert list(found) == ["loss", "pppl", "pppl-mean", "pppl-median", "pppl-word"]


def test_each_text_by_the_word_by_hand() -> None:
    found = perplexity_measures(LOGPROBS, [1, 1, 0, 2], False, samples=100, seed=1, word_texts=True)
    assert found["ppl-word-mean"].value == pytest.approx((2**3 + 2**3 + 2**1.5) / 3)
    assert found["ppl-word-median"].value == pytest.approx(8)
    assert [found[f"ppl-word-{which}"].n for which in ("mean", "median")] == [3, 3]
    wordless = perplexity_measures(LOGPROBS, [1, 0, 0, 2], False, samples=100, seed=1, word_texts=True)
    assert wordless["ppl-word-mean"].value == pytest.approx((2**3 + 2**1.5) / 2), (
        "a text without words is in none"
    )
    assert wordless["ppl-word-mean"].n == 2
    assert wordless["ppl-mean"] == found["ppl-mean"]


def test_a_figure_a_word_that_no_float_holds_is_absent() -> None:
    logprobs = [np.full(200, -4.0), np.full(2, -1.0)]
    found = perplexity_measures(logprobs, [1, 1], False, samples=20, seed=1, word_texts=True)
    assert "ppl-word-mean" not in found
    assert "ppl-word-median" not in found, "half of infinity"
    assert found["ppl-word"].value == pytest.approx(np.exp(401.0))
    assert found["ppl-median"].value == pytest.approx((np.exp(4) + np.exp(1)) / 2)


def test_unknown_words_by_hand() -> None:
    """One of the six tokens is unknown; its word costs 5 bits beside [UNK], which no figure a token has."""
    spelled = UnknownWords([1, 0, 0, 0], [-5 * math.log(2), 0.0, 0.0, 0.0])
    known, told, untold = (
        perplexity_measures(LOGPROBS, WORDS, False, 100, 1, word_texts=True, unknown=unknown)
        for unknown in (UnknownWords([0] * 4), spelled, UnknownWords([1, 0, 0, 0]))
    )
    assert told["oov"].value == untold["oov"].value == pytest.approx(1 / 6)
    assert (known["oov"].value, told["oov"].n) == (0.0, 6)
    assert known["ppl-word"].value == pytest.approx(2 ** (9 / 4))
    assert told["ppl-word"].value == pytest.approx(2 ** (14 / 4))
    assert told["ppl-word-mean"].value == pytest.approx((2**8 + 2**3 + 2**1.5) / 3)
    assert not any("word" in name for name in untold), "nothing tells them apart"
    for name in ("loss", "ppl", "ppl-mean", "ppl-median"):
        assert known[name] == told[name] == untold[name]
    cannot_tell = perplexity_measures(LOGPROBS, WORDS, False, 100, 1, unknown=UnknownWords(None))
    assert set(cannot_tell) == {"loss", "ppl", "ppl-mean", "ppl-median"}
    with pytest.raises(ValueError, match="unknown words of 3"):
        perplexity_measures(LOGPROBS, WORDS, False, 100, 1, unknown=UnknownWords([0] * 3, [0.0] * 3))


def test_equal_models_have_equal_figures_a_word_whichever_words_they_know() -> None:
    """Words of two letters, all equally likely: by pieces, and by words that are all unknown but for one."""
    words, letters = 200, 4
    pieces = [np.full(2 * words, -math.log(letters))]
    unknown = [np.zeros(words)]  # [UNK] is certain
    spelled = UnknownWords([words], [-2.0 * words * math.log(letters)])
    by_pieces = perplexity_measures(pieces, [words], False, 10, 1, unknown=UnknownWords([0]))
    by_words = perplexity_measures(unknown, [words], False, 10, 1, unknown=spelled)
    assert by_words["ppl-word"].value == pytest.approx(by_pieces["ppl-word"].value) == letters**2
    assert by_words["ppl"].value == 1.0, "what the unknown words leave of a figure a token"


def test_no_words_no_figure_per_word() -> None:
    assert "ppl-word" not in perplexity_measures(LOGPROBS, [0, 0, 0, 0], pseudo=False, samples=10, seed=1)


def test_the_interval_is_of_documents_where_they_are_given() -> None:
    generator = np.random.default_rng(0)
    level = np.repeat(generator.exponential(size=10), 30)  # each of ten documents has its own difficulty
    logprobs = [-one - generator.exponential(0.1, size=8) for one in level]
    documents = np.repeat(np.arange(10), 30).tolist()
    texts = perplexity_measures(logprobs, [8] * 300, False, samples=500, seed=1)
    clusters = perplexity_measures(logprobs, [8] * 300, False, samples=500, seed=1, clusters=documents)
    for name in texts:
        alone, together = texts[name], clusters[name]
        assert alone.value == pytest.approx(together.value)
        assert None not in (alone.ci_low, alone.ci_high, together.ci_low, together.ci_high)
        assert together.ci_high - together.ci_low > 2 * (alone.ci_high - alone.ci_low)  # type: ignore[operator]


def test_cluster_resampling_is_that_of_a_plain_loop() -> None:
    generator = np.random.default_rng(1)
    logprobs = [-generator.exponential(2, size=generator.integers(1, 9)) for _ in range(60)]
    documents = generator.integers(0, 12, 60)
    found = perplexity_measures(logprobs, [1] * 60, False, 3000, 1, documents.tolist())["ppl-median"]
    own = np.array([math.exp(-one.mean()) for one in logprobs])
    medians = [
        np.median(np.concatenate([own[documents == one] for one in generator.integers(0, 12, 12)]))
        for _ in range(3000)
    ]
    ends = np.quantile(medians, [tail(12), 1 - tail(12)])
    assert (found.ci_low, found.ci_high) == pytest.approx(ends, rel=0.05)


def test_a_uniform_model_over_v_tokens_has_perplexity_v() -> None:
    found = perplexity_measures([np.full(5, -math.log(50))] * 4, [5] * 4, False, 50, 1)
    for name in ("ppl", "ppl-mean", "ppl-median", "ppl-word"):
        assert found[name].value == pytest.approx(50)


def test_a_word_of_hundreds_of_tokens_has_no_perplexity() -> None:
    texts = [np.full(400, -2.0), *[np.log([0.5])] * 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = perplexity_measures(texts, [1, 1, 1], False, 10, 1, word_texts=True)
    assert "ppl-word-mean" not in found, "e to the 800th"
    assert found["ppl-word"].value == pytest.approx(math.exp((800 + 2 * math.log(2)) / 3))
    assert found["ppl-word-median"].value == 2


def test_unigram_entropy_is_shannons() -> None:
    texts: list[TokenIds] = [[1, 1, 2], [], [3, 1], np.array([9, 9, 9], dtype=np.uint16)]
    counts = Counter(int(token) for text in texts for token in text)
    expected = -sum(count / 8 * math.log(count / 8) for count in counts.values())
    assert unigram_entropy(texts) == pytest.approx(expected)
    logprobs = unigram_logprobs(texts)
    assert [len(one) for one in logprobs] == [3, 0, 2, 3]
    assert logprobs[0][:1] == pytest.approx([math.log(3 / 8)])
    assert logprobs[2] == pytest.approx([math.log(1 / 8), math.log(3 / 8)])
    found = perplexity_measures(logprobs, [1] * 4, False, 50, 1)
    assert found["loss"].value == pytest.approx(expected)


def test_gain_over_a_baseline_is_paired() -> None:
    generator = np.random.default_rng(2)
    baseline = [-generator.exponential(3, size=20) for _ in range(100)]
    model = [0.9 * one for one in baseline]
    measure = gain(model, baseline, samples=500, seed=1)
    mean = float(-np.concatenate(baseline).mean())
    assert measure.value == pytest.approx(0.1 * mean)
    assert measure.n == 2000
    assert measure.ci_low is not None
    assert measure.ci_high is not None
    assert 0 < measure.ci_low < measure.value < measure.ci_high
    clusters = [number // 5 for number in range(100)]
    whole = [[np.concatenate(each[at : at + 5]) for at in range(0, 100, 5)] for each in (model, baseline)]
    drawn, wanted = gain(model, baseline, 500, 1, clusters), gain(whole[0], whole[1], 500, 1)
    assert dataclasses.astuple(drawn) == pytest.approx(dataclasses.astuple(wanted)), "documents are drawn"
    with pytest.raises(ValueError, match="other numbers of tokens"):
        gain(model, baseline[:-1], samples=10, seed=1)


@pytest.mark.parametrize("bad", [0.1, float("nan"), float("-inf")])
def test_impossible_log_probabilities_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="text 1"):
        perplexity_measures([np.array([-1.0]), np.array([-1.0, bad])], [1, 2], False, 10, 1)


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(ValueError, match="no token"):
        perplexity_measures([np.array([])], [1], False, 10, 1)
    with pytest.raises(ValueError, match="1 texts, 2 counts"):
        perplexity_measures([np.array([-1.0])], [1, 2], False, 10, 1)
    with pytest.raises(ValueError, match="no token"):
        unigram_entropy([[], []])
