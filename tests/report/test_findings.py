"""The first screen's sentences: a difference is claimed where the intervals bear it, and nowhere else."""

from __future__ import annotations

import dataclasses

import pytest

from quartet.report.facts import Facts
from quartet.report.tables import markdown, readme, times
from quartet.results import Result
from tests.report.synthetic import facts, results, row, timings


def found(rows: list[Result], words: str, known: Facts | None = None) -> str:
    """The finding that begins with these words."""
    text = markdown(rows, known or facts())
    screen = text.split("\n## What the numbers show\n")[1].split("\n## ")[0]
    lines = [line for line in screen.splitlines() if line.startswith(f"- {words}")]
    return lines[0] if lines else ""


def widened(rows: list[Result], half: float) -> list[Result]:
    """The same results with intervals of `half` on either side."""
    return [
        row
        if row.ci_low is None
        else dataclasses.replace(row, ci_low=row.value - half, ci_high=row.value + half)
        for row in rows
    ]


def test_segment_positions_are_called_lower_only_if_the_intervals_stay_apart() -> None:
    narrow = found(results(), "Perplexity a token")
    assert "(`segatron-xl` against `transformer-xl`): lower, the intervals apart." in narrow
    wide = found(widened(results(), 40.0), "Perplexity a token")
    assert "(`segatron-xl` against `transformer-xl`): the intervals touch, so no difference is shown." in wide


@pytest.mark.parametrize(
    ("pair", "difference", "half", "words"),
    [
        ("segatron-xl - transformer-xl", -0.1, 0.02, "-9.5 % [-11.3, -7.7] over the same documents, lower."),
        (
            "transformer-xl - segatron-xl",
            -0.1,
            0.02,
            "+10.5 % [+8.3, +12.7] over the same documents, higher.",
        ),
        (
            "segatron-xl - transformer-xl",
            *(0.01, 0.02),
            "+1.0 % [-1.0, +3.0] over the same documents, so no difference is shown.",
        ),
    ],
)
def test_over_the_same_documents_the_difference_itself_decides(
    pair: str, difference: float, half: float, words: str
) -> None:
    one = row(
        "perplexity-pairs", pair, "wikipedia-sample", "test", "loss-difference", difference, 13_200, half
    )
    assert f"(`segatron-xl` against `transformer-xl`): {words}" in found(
        [*results(), one], "Perplexity a token"
    )


def test_how_many_models_are_told_apart() -> None:
    one = row(
        "perplexity-pairs", "bilm - tta", "wikipedia-sample", "test", "loss-difference", 0.1, 13_200, 0.2
    )
    sentence = found([*results(), one], "Models against each other")
    assert "1 of 2 differences in loss are shown to be other than 0: `unilm - transformer-xl`." in sentence


def test_models_that_differ_in_more_than_positions_are_not_set_against_each_other() -> None:
    assert "`tta-segments` against" not in found(results(), "Pseudo-perplexity")  # tta reads sentences
    steps = tuple(
        dataclasses.replace(model, steps=900) if model.name == "segatron-xl" else model
        for model in facts().models
    )
    sentence = found(results(), "Perplexity a token", dataclasses.replace(facts(), models=steps))
    assert "against" not in sentence


def test_perplexities_over_other_tokens_are_not_set_against_each_other() -> None:
    rows = [dataclasses.replace(one, n=99) if one.system == "segatron-xl" else one for one in results()]
    assert "against" not in found(rows, "Perplexity a token")


def test_the_unigram_entropy_is_beaten_only_where_the_interval_says_so() -> None:
    sentence = found(results(), "Pseudo-perplexity")
    assert "Unigram entropy of the same tokens: 5.93 nats; shown to be below it: all, by 1.13" in sentence
    weak = [
        dataclasses.replace(one, value=380.0, ci_low=350.0, ci_high=410.0)
        if (one.system, one.metric) == ("tta", "pppl")
        else one
        for one in results()
    ]
    assert "not shown to be below it: `tta`." in found(weak, "Pseudo-perplexity")


def test_reranking_claims_follow_the_interval_of_the_difference_on_every_seed() -> None:
    sentence = found(results(), "Reranking")
    assert "Shown to be better than it: `bilm`" in sentence
    assert "Not told from it: `unilm` and `bilm-intact`." in sentence
    worse = [
        dataclasses.replace(one, value=2.0, ci_low=1.0, ci_high=3.0)
        if (one.system, one.metric) == ("tta", "wer-difference")
        else one
        for one in results()
    ]
    assert "Shown to be worse: `tta` (+2.00 [+1.00, +3.00])." in found(worse, "Reranking")
    seeds = results((1, 2, 3))  # the later seeds are worse, and one interval holds 0
    assert "Shown to be better" not in found(seeds, "Reranking", facts((1, 2, 3)))


def test_a_causal_model_that_sees_the_future_is_named() -> None:
    models = tuple(
        dataclasses.replace(model, leaks=True, variant=("offsets as released",))
        if model.name == "segatron-xl"
        else model
        for model in facts().models
    )
    leaking = dataclasses.replace(facts(), models=models)
    sentence = found(results(), "Perplexity", leaking)
    assert "Of `segatron-xl`: the offsets of the released" in sentence
    assert "With segment positions" not in sentence
    assert markdown(results(), leaking).count("tell earlier tokens") == 2, (
        "in the findings and under the table"
    )
    assert "tell earlier tokens" not in markdown(results(), facts())


def test_an_entropy_of_other_tokens_is_no_measure() -> None:
    rows = [dataclasses.replace(one, n=99) if one.system == "tta" else one for one in results()]
    sentence = found(rows, "Pseudo-perplexity")
    assert "by 1.16 [1.10, 1.22] (`bilm`) to 1.37" in sentence
    assert "below it: `tta`" not in sentence


def test_each_tokenizer_has_an_entropy_of_its_own() -> None:
    models = tuple(
        dataclasses.replace(model, tokenizer="word") if model.name == "tta" else model
        for model in facts().models
    )
    rows = [
        dataclasses.replace(one, reading=tokenizer, value=one.value + more)
        for tokenizer, more in (("wordpiece-3k", 0.0), ("word", 1.0))
        for one in results()
        if (one.system, one.metric) == ("unigram", "entropy")
    ]
    rows = [dataclasses.replace(one, ci_low=None, ci_high=None) for one in rows]
    rows += [one for one in results() if one.system != "unigram"]
    sentence = found(rows, "Pseudo-perplexity", dataclasses.replace(facts(), models=models))
    assert "same tokens: 5.93 and 6.93 nats; shown to be below it: all" in sentence
    assert "to 2.13 [2.07, 2.19] (`tta`)" in sentence


def test_without_intervals_nothing_is_claimed() -> None:
    bare = [dataclasses.replace(one, ci_low=None, ci_high=None) for one in results()]
    text = markdown(bare, facts()).split("\n## Training")[0]
    screen = text.split("What the numbers show")[1].split("stay apart.")[1]
    for claim in ("; shown", "Shown to be", "lower, the", "higher, the", "is above", "is below"):
        assert claim not in screen
    assert "0 of 7 embedding tables are shown to be above 0" in screen


@pytest.mark.parametrize(("half", "verdict"), [(0.01, "is below"), (0.11, "is not told from")])
def test_t_ta_is_set_beside_the_masked_model_of_the_same_input(half: float, verdict: str) -> None:
    rows = [
        dataclasses.replace(one, value=one.value - 0.05) if one.system == "tta/context" else one
        for one in results()
    ]
    rows = widened([one for one in rows if one.table == "sts"], half)
    sentence = found(rows, "Similarity")
    assert f") {verdict} `bilm/context` (" in sentence
    assert "`bert-/context` (" not in sentence  # it reads spans


def test_classification_is_measured_against_both_baselines() -> None:
    sentence = found(results(), "Classification")
    assert "Against `majority` (50.0): not told from it: all." in sentence
    good = [
        dataclasses.replace(one, value=0.8, ci_low=0.74, ci_high=0.85)
        if (one.system, one.metric) == ("tta", "accuracy")
        else one
        for one in results()
    ]
    assert "Against `majority` (50.0): shown above: `tta`; not told from it: `bilm`" in found(
        good, "Classification"
    )


def test_the_time_ratio_has_its_own_interval() -> None:
    text = readme(times(timings(), facts()))
    assert "`bilm` 4.91 [4.72, 5.11] times `tta`'s" in text
    assert "(the paper, at 20 words on its own machine: 12.7)" in text


def test_a_gain_without_an_interval_is_not_shown_to_be_one() -> None:
    gain = row("perplexity", "tta", "wikipedia-sample", "test", "gain", 1.2, 13_200)
    assert "not shown to be below it: `tta`" in found([*results(), gain], "Pseudo-perplexity")


def test_an_n_gram_model_is_not_set_beside_models_of_other_tokens() -> None:
    rows = [
        *results(),
        *(
            dataclasses.replace(one, model="ngram-5", value=3.0, ci_low=2.0, ci_high=4.0)
            for one in results()
            if (one.table, one.system, one.metric) == ("perplexity", "unilm", "ppl")
        ),
    ]
    assert "ngram-5" not in found(rows, "Perplexity a token")
    text = markdown(rows, facts())
    assert "`ngram-5`: n-gram models count tokens of their own" in text and "| `ngram-5` |" in text
