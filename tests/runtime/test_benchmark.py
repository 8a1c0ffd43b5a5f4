"""The speed benchmark runs, says what it measured, and its interval of the median holds what it promises."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.errors import InputError
from quartet.objectives.mlm import MaskedLM
from quartet.runtime.benchmark import benchmark, median_interval
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.mark.parametrize("n", [6, 10, 50])
def test_the_interval_of_the_median_covers_it(n: int) -> None:
    draws = np.random.default_rng(0).exponential(size=(3000, n))
    held = []
    for measure in (median_interval(values) for values in draws):
        assert measure.ci_low is not None and measure.ci_high is not None
        held.append(measure.ci_low <= np.log(2) <= measure.ci_high)
    assert 0.945 < np.mean(held) <= 1.0


def test_few_values_have_a_median_and_no_interval() -> None:
    measure = median_interval(np.array([3.0, 1.0, 2.0]))
    assert (measure.value, measure.n, measure.ci_low, measure.ci_high) == (2.0, 3, None, None)


def test_a_masked_model_is_timed_both_ways_and_left_as_it_was(small_corpus: Small) -> None:
    model = random_model("bilm", small_corpus[0])
    timings = list(benchmark(model, {1: "river", 3: "the old bridge"}, repeats=2))
    assert {(timing.system, timing.words) for timing in timings} == {
        (f"{name}/{use}", words)
        for name in ("bilm", "bilm-one-by-one")
        for use in ("sts", "rerank")
        for words in (1, 3)
    }
    assert all(timing.milliseconds.value > 0 and timing.tokens >= timing.words for timing in timings)
    assert isinstance(model.objective, MaskedLM) and not model.objective.plain


def test_a_sentence_that_needs_two_inputs_is_refused(small_corpus: Small) -> None:
    model = random_model("tta", small_corpus[0])
    with pytest.raises(InputError, match=r"runtime\.words: 40 words"):
        list(benchmark(model, {40: " ".join(["river"] * 40)}, repeats=1))
