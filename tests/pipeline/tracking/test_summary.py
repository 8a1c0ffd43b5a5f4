"""What a model's row in MLflow says, worked out by hand from a few results: no database is opened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.tracking.runs import outcome_of, row_points, seconds
from pipeline.tracking.stage import Stopwatch
from pipeline.tracking.summary import (
    column,
    columns_of,
    description,
    grouped,
    headlines,
    points_of,
    read_by,
    settings_of,
    shown,
    stages_of,
)
from quartet.files import sha256, write_json
from quartet.results import Result, write_results
from tests.settings import change_settings

#: A WER of test on lists; others differ from it.
WER = Result(
    experiment="tiny",
    table="rerank",
    model="tta",
    dataset="speech",
    split="test",
    metric="wer",
    value=12.345678,
    n=10,
    ci_low=11.0,
    ci_high=13.5,
    seed=1,
    device="cpu",
    scale="small",
)
LOSS = replace(WER, table="perplexity", metric="loss", dataset="books", value=3.5)
SIMILARITY = replace(WER, table="sts", metric="pearson", dataset="lee", reading="context", value=0.5)


@pytest.fixture
def params(workspace: Path) -> Params:
    return read_params()


def test_a_column_is_the_metric_then_what_tells_it_from_others() -> None:
    assert column(WER, "tta") == "wer speech"
    assert column(replace(WER, split="dev"), "tta") == "wer speech dev"
    assert column(SIMILARITY, "tta") == "pearson context lee"
    assert column(SIMILARITY, "tta/context") == "pearson lee", "a system that is called as the reading is"
    assert column(replace(LOSS, table="training", split="valid"), "tta") == "loss books valid training"


def test_two_tables_in_one_column_are_told_apart_and_others_are_not() -> None:
    blimp = replace(WER, table="blimp", metric="accuracy", dataset="set")
    race = replace(blimp, table="race", value=0.25)
    assert columns_of([WER, blimp, race], "tta") == {
        "wer speech": [WER],
        "accuracy set blimp": [blimp],
        "accuracy set race": [race],
    }


def test_seeds_have_a_mean_and_stand_beside_it_where_there_are_two() -> None:
    second = replace(WER, value=14.345678, seed=2)
    assert points_of({"wer": [WER]}) == [("wer", 12.346, 0)]
    assert points_of({"wer": [WER, second]}) == [
        ("wer", 13.346, 0),
        ("wer seed-1", 12.346, 0),
        ("wer seed-2", 14.346, 0),
    ]


def test_the_table_of_runs_has_five_digits_and_a_stages_run_has_all() -> None:
    assert [shown(value) for value in (123456.7, 0.000123456, -1.0)] == [123460.0, 0.00012346, -1.0]
    (point,) = row_points([replace(WER, seed=3)], "tta")
    assert point == ("rerank/speech/test/wer", 12.345678, 3)
    (baseline,) = row_points([replace(WER, seed=None)], "tta")
    assert baseline[2] == 0, "what has no seed"


def test_durations_are_called_by_what_took_them() -> None:
    rows = [
        {"name": "total", "seconds": 12},
        {"name": "train/seed-1", "seconds": 9.5, "measures": {"tokens-per-second": 1000, "padding": 0.1}},
    ]
    assert seconds(rows) == {
        "seconds/total": 12.0,
        "seconds/train/seed-1": 9.5,
        "tokens-per-second/train/seed-1": 1000.0,
        "padding/train/seed-1": 0.1,
    }


def test_a_run_lasted_from_the_stages_start_as_long_as_the_stage(params: Params) -> None:
    layout = Layout(params.experiment)
    path = layout.rows("rerank", "tta")
    write_results(path, [WER])
    watch = Stopwatch(layout, "rerank", "tta")
    watch.add("start-up", 9.0)
    watch.add("total", 2.5, started=1000.25)
    watch.belongs_to(sha256(path))
    found = outcome_of(params, "rerank", "tta")
    assert (found.started, found.ended) == (1_000_250, 1_002_750)
    watch.belongs_to("of another record")
    restored = outcome_of(params, "rerank", "tta")
    assert (restored.started, restored.ended) == (None, None)


def test_a_run_of_a_tokenizer_has_the_tokenizer_among_its_files(params: Params) -> None:
    folder = Layout(params.experiment).tokenizer("wordpiece-1k")
    for name in (MANIFEST, TOKENIZER):
        write_json(folder / name, {"vocab_size": 5})
    files = [path for path, _ in outcome_of(params, "tokenizer", "wordpiece-1k").files]
    assert sorted(files) == [folder / MANIFEST, folder / TOKENIZER]


def test_a_model_has_the_rows_of_all_its_readings_and_comes_before_what_is_no_model(params: Params) -> None:
    first_pass = replace(WER, model="first-pass", seed=None)
    intact = replace(WER, reading="intact")
    tables = ("rerank-pairs", "sts-pairs", "input-length-pairs")
    pairs = [replace(WER, table=table, versus=other) for table in tables for other in ("first-pass", "bilm")]
    lengths = replace(WER, table="rerank-length")
    found = grouped(params, [first_pass, intact, WER, *pairs, lengths])
    assert list(found.items()) == [("tta", [intact, WER]), ("first-pass", [first_pass])]


def test_the_view_shows_each_sets_first_metric_and_what_stands_beside_it() -> None:
    gain = replace(LOSS, metric="gain")
    rows = [
        *(replace(SIMILARITY, reading="embed"), SIMILARITY),
        *(replace(SIMILARITY, dataset="lee/part"), replace(SIMILARITY, metric="spearman")),
        *(replace(WER, split="dev"), WER, replace(WER, metric="weight")),
        *(gain, LOSS, replace(LOSS, metric="ppl"), replace(LOSS, table="training", split="valid")),
    ]
    assert headlines({"tta": rows}) == ["loss books", "gain books", "wer speech", "pearson context lee"]


def test_the_description_has_an_interval_where_there_is_one_seed(params: Params) -> None:
    several = [replace(LOSS, value=3.0, seed=1), replace(LOSS, value=4.0, seed=2)]
    other = replace(WER, model="oracle", seed=None, ci_low=None, ci_high=None, value=9.0)
    unseen = {"first-pass": [replace(WER, model="first-pass", metric="weight")]}
    by_system = {"tta": [WER, *several], "oracle": [other], **unseen}
    for intervals, wer in ((True, "12.35 [11, 13.5]"), (False, "12.35")):
        text = description(params, by_system, ["loss books", "wer speech"], "3f2a9c1b", intervals)
        assert [line for line in text.splitlines() if line.startswith("| `")] == [
            f"| `tta` | lae | sequence | 3.5 | {wer} |",
            "| `oracle` | – | – | – | 9 |",
        ]


def test_a_systems_figures_come_from_the_stages_of_its_kind(params: Params, workspace: Path) -> None:
    of_tta = {stage for stage, variant in stages_of(params, "tta") if variant == "tta"}
    assert {"pretrain", "perplexity", "rerank", "sts", "glue", "attention"} <= of_tta
    assert not {"download", "baselines", "runtime"} & of_tta
    assert set(stages_of(params, "ngram-3")) == {("ngram", "ngram-3"), ("rerank", "ngram-3")}
    assert list(stages_of(params, "oracle")) == [("baselines", "")]
    change_settings(workspace / "params.yaml", {"rerank.combine": [["tta", "ngram-3"]]})
    combined = list(stages_of(read_params(), "tta-and-ngram-3"))
    assert combined[0] == ("combine", "") and {"tta", "ngram-3"} == {name for _, name in combined[1:]}


def test_what_a_stage_reads_is_the_text_it_was_trained_on_and_the_lists(params: Params) -> None:
    text = [("download", "wikipedia-sample"), ("segment", "wikipedia-sample"), ("tokenizer", "wordpiece-1k")]
    assert list(read_by(params, ("pretrain", "tta"))) == text
    assert list(read_by(params, ("ngram", "ngram-3"))) == text
    assert list(read_by(params, ("rerank", "tta"))) == [("nbest", "sample-speech")]
    assert list(read_by(params, ("sts", "tta"))) == []
    assert list(read_by(params, ("baselines", ""))) == [*text, ("nbest", "sample-speech")]


def test_a_rows_settings_are_those_that_its_figures_depend_on(params: Params) -> None:
    found = settings_of(params, "ngram-3")
    assert found["ngrams.order"] == "3"
    assert found["nbest.sample-speech.hypotheses"] == "5"
    assert found["corpora.wikipedia-sample.limit"] == "20"
    assert not [key for key in found if key.startswith(("models.", "tasks."))]
    tasks = [key for key in settings_of(params, "tta") if key.startswith("tasks.stsb.")]
    assert tasks and not [key for key in tasks if key.endswith("license")]
