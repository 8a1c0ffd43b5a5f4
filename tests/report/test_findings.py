"""What the first screen says is shown: only where the intervals bear it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from quartet.report.facts import RunFacts
from quartet.report.tables import times
from quartet.results import Result
from tests.report.rendered import markdown, part, section, verdicts
from tests.report.synthetic import facts, results, row, timings

LOWER = "segatron-xl - transformer-xl"


def about(rows: list[Result], table: str, words: str, known: RunFacts | None = None) -> str:
    """The finding of a section that has these words; "" where there is none."""
    return next((one for one in verdicts(rows, table, known) if words in one), "")


def of_segments(rows: list[Result], known: RunFacts | None = None) -> str:
    """What is said of segment positions and perplexity."""
    said = about(rows, "perplexity", "`segatron-xl` against `transformer-xl`", known)
    return said.partition("`segatron-xl` against `transformer-xl`): ")[2]


def widened(rows: list[Result], half: float) -> list[Result]:
    """The same results with intervals of `half` on either side."""
    return [
        one
        if one.ci_low is None
        else dataclasses.replace(one, ci_low=one.value - half, ci_high=one.value + half)
        for one in rows
    ]


def changed(table: str, system: str, metric: str, **values: float) -> list[Result]:
    """The invented run with other values in one place."""
    return [
        dataclasses.replace(one, **values)  # type: ignore[arg-type]
        if (one.table, one.system, one.metric) == (table, system, metric)
        else one
        for one in results()
    ]


def test_segment_positions_are_called_lower_only_if_the_intervals_stay_apart() -> None:
    assert of_segments(results()).startswith("lower")
    assert of_segments(widened(results(), 40.0)).startswith("no difference shown")


@pytest.mark.parametrize(
    ("pair", "difference", "half", "figures", "verdict"),
    [
        (LOWER, -0.1, 0.02, "-9.5 % [-11.3, -7.7]", ", lower."),
        ("transformer-xl - segatron-xl", -0.1, 0.02, "+10.5 % [+8.3, +12.7]", ", higher."),
        (LOWER, 0.01, 0.02, "+1.0 % [-1.0, +3.0]", ", no difference shown."),
    ],
)
def test_over_the_same_documents_the_difference_itself_decides(
    pair: str, difference: float, half: float, figures: str, verdict: str
) -> None:
    one = row(
        "perplexity-pairs", pair, "wikipedia-sample", "test", "loss-difference", difference, 13_200, half
    )
    said = of_segments([*results(), one])
    assert said.startswith(figures) and verdict in said


def test_models_that_differ_in_more_than_positions_are_not_set_against_each_other() -> None:
    assert "`tta-segments` against" not in "".join(verdicts(results(), "perplexity")), "tta reads sentences"
    for change in ({"steps": 900}, {"parameters": 9_000_000}, {"leaks": True}):
        models = tuple(
            dataclasses.replace(model, **change) if model.name == "segatron-xl" else model  # type: ignore[arg-type]
            for model in facts().models
        )
        assert of_segments(results(), dataclasses.replace(facts(), models=models)) == ""
    other_tokens = [
        dataclasses.replace(one, n=99) if one.system == "segatron-xl" else one for one in results()
    ]
    assert of_segments(other_tokens) == ""


def test_a_causal_model_that_sees_the_future_is_named() -> None:
    models = tuple(dataclasses.replace(model, leaks=model.name == "segatron-xl") for model in facts().models)
    known = dataclasses.replace(facts(), models=models)
    assert "Of `segatron-xl`: " in about(results(), "perplexity", "PPL per token", known)
    assert "Of `segatron-xl`: " not in about(results(), "perplexity", "PPL per token")


def below(rows: list[Result], known: RunFacts | None = None) -> tuple[str, str]:
    """Who is shown to be below the unigram entropy, and who is not, of the pseudo-perplexities."""
    said = about(rows, "perplexity", "pPPL", known)
    return part(said, "; shown to be below it:"), part(said, "not shown to be below it:")


def test_the_unigram_entropy_is_beaten_only_where_the_interval_says_so() -> None:
    assert below(results())[1] == ""
    assert "5.93 nats" in about(results(), "perplexity", "pPPL")
    weak = changed("perplexity", "tta", "pppl", value=380.0, ci_low=350.0, ci_high=410.0)
    assert "`tta`" in below(weak)[1] and "`tta`" not in below(weak)[0]
    gain = row("perplexity", "tta", "wikipedia-sample", "test", "gain", 1.2, 13_200)
    assert "`tta`" in below([*results(), gain])[1], "without an interval"
    other = [dataclasses.replace(one, n=99) if one.system == "tta" else one for one in results()]
    assert "`tta`" not in "".join(below(other)), "an entropy of other tokens is no measure"


def test_each_tokenizer_has_an_entropy_of_its_own() -> None:
    models = tuple(
        dataclasses.replace(model, tokenizer="word") if model.name == "tta" else model
        for model in facts().models
    )
    rows = [
        dataclasses.replace(one, reading=tokenizer, value=one.value + more, ci_low=None, ci_high=None)
        for tokenizer, more in (("wordpiece-3k", 0.0), ("word", 1.0))
        for one in results()
        if (one.system, one.metric) == ("unigram", "entropy")
    ]
    rows += [one for one in results() if one.system != "unigram"]
    known = dataclasses.replace(facts(), models=models)
    assert "5.93 and 6.93 nats" in about(rows, "perplexity", "pPPL", known)
    body = section(markdown(rows, known), "Perplexity")
    assert "| 2.13 [2.07, 2.19] |" in body, "of its own tokenizer"


def test_an_n_gram_model_is_not_set_beside_models_of_other_tokens() -> None:
    unilm = [
        one for one in results() if (one.table, one.system, one.metric) == ("perplexity", "unilm", "ppl")
    ]
    rows = [*results(), *(dataclasses.replace(one, model="ngram-5", value=3.0) for one in unilm)]
    assert "ngram-5" not in "".join(verdicts(rows, "perplexity"))


def test_reranking_claims_follow_the_interval_of_the_difference_on_every_seed() -> None:
    (said,) = verdicts(results(), "rerank")
    assert "`bilm` (" in part(said, "shown to be better:")
    assert "`unilm`" in part(said, "no difference shown:") and "`bilm-intact`" in part(
        said, "no difference shown:"
    )
    (said,) = verdicts(
        changed("rerank", "tta", "wer-difference", value=2.0, ci_low=1.0, ci_high=3.0), "rerank"
    )
    assert "`tta` (+2.00 [+1.00, +3.00] p 0.012)" in part(said, "shown to be worse:")
    (said,) = verdicts(results((1, 2, 3)), "rerank", facts((1, 2, 3)))
    assert part(said, "shown to be better:") == "", "the later seeds are worse, and one interval holds 0"


def test_a_higher_bleu_is_better() -> None:
    rows = [row("rerank", name, "mt", "test", "bleu", 20.0, 500, 0.4) for name in ("first-pass", "tta")]
    rows.append(row("rerank", "tta", "mt", "test", "bleu-difference", 1.0, 500, 0.3))
    (said,) = verdicts(rows, "rerank")
    assert "`tta` (+1.00 [+0.70, +1.30])" in part(said, "shown to be better:")


def test_how_many_pairs_are_told_apart() -> None:
    one = row(
        "perplexity-pairs", "bilm - tta", "wikipedia-sample", "test", "loss-difference", 0.1, 13_200, 0.2
    )
    (said,) = verdicts([*results(), one], "perplexity-pairs")
    assert "1 of 2 " in said and "`unilm - transformer-xl`" in said and "`bilm - tta`" not in said
    (said,) = verdicts(results(), "rerank-pairs")
    assert "1 of 2 " in said and "`tta - unilm`" in said


def test_without_intervals_nothing_is_claimed() -> None:
    bare = [dataclasses.replace(one, ci_low=None, ci_high=None) for one in results()]
    for table in (
        "perplexity",
        "rerank",
        "sts",
        "wordsim",
        "classification",
        "squad",
        "race",
        "blimp",
        "attention",
    ):
        for said in verdicts(bare, table):
            for words in ("shown to be better:", "shown to be worse:", "shown to be below it:", "more than"):
                assert "`" not in part(said.replace("not shown to be below it:", ""), words), said
            assert "`" not in part(said, "above chance")


@pytest.mark.parametrize(("half", "verdict"), [(0.01, "is below"), (0.11, "is not shown to differ from")])
def test_t_ta_is_set_beside_the_masked_model_of_the_same_input(half: float, verdict: str) -> None:
    rows = [
        dataclasses.replace(one, value=one.value - 0.05) if one.system == "tta/context" else one
        for one in results()
    ]
    rows = widened([one for one in rows if one.table == "sts"], half)
    said = about(rows, "sts", "`tta/context`")
    said = next(one for one in verdicts(rows, "sts") if f") {verdict} `bilm/context` (" in one)
    assert "`bert-/context` (" not in said, "it reads spans"


@pytest.mark.parametrize(
    ("table", "of", "said"),
    [
        (
            "sts",
            lambda one: one.table == "sts" and one.model == "tta",
            1,
        ),  # the highest; no masked model to compare
        ("nli", lambda one: one.table == "sts" and one.reading != "nli", 0),
        ("attention", lambda one: one.reading == "uniform", 0),
    ],
)
def test_a_rule_that_finds_nothing_says_nothing(table: str, of: Callable[[Result], bool], said: int) -> None:
    rows = [one for one in results() if of(one)]
    assert rows and len(verdicts(rows, table)) == said


@pytest.mark.parametrize("table", ["sts", "wordsim", "blimp"])
def test_nothing_is_claimed_of_a_development_set_where_there_is_a_test_set(table: str) -> None:
    rows = [one for one in results() if one.table == table]
    assert verdicts(rows, table)
    assert not verdicts([dataclasses.replace(one, split="dev") for one in rows], table)


def test_classification_is_measured_against_both_baselines() -> None:
    (said,) = verdicts(results(), "classification")
    assert "`" not in part(said, "above `majority` (50.0)")
    good = changed("classification", "tta", "accuracy", value=0.8, ci_low=0.74, ci_high=0.85)
    (said,) = verdicts(good, "classification")
    assert part(said, "above `majority` (50.0)").strip(": ") == "`tta`"


def test_the_time_ratio_has_its_own_interval_and_the_nearest_length_is_compared() -> None:
    (said, *_) = times(timings(), facts()).findings.lines[2:]
    assert (
        "at 20 words" in said.lower() and "`bilm` 4.91 [4.72, 5.11] times `tta`'s" in said and "12.7" in said
    )
    rows = [one for one in timings() if one.dataset in ("1-words", "10-words")]
    (said, *_) = times(rows, facts()).findings.lines[2:]
    assert "10 words" in said and "`bilm` 2.75" in said
