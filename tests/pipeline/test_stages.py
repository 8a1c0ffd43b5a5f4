"""Rows are made in one place and gathered by the names in the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import dvc_yaml
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.stages import STAGES, instances, results
from pipeline.tracking.stage import timings
from quartet.errors import InputError
from quartet.files import sha256, write_json
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from tests.imports import ROOT
from tests.named import named


def row(params: Params, table: str, system: str, value: float = 0.5) -> Result:
    """A row about anything."""
    evaluated = EvaluatedSystem(**named(system), device="cpu", scale="tiny", seed=1)
    (made,) = evaluated.rows(
        {"wer": Measure(value, 3, 0.4, 0.6)},
        experiment=params.experiment,
        table=table,
        dataset="sample-speech",
        split="test",
    )
    return made


def write_all(params: Params) -> Layout:
    """One row for every stage instance of the settings."""
    layout = Layout(params.experiment)
    for stage, variant in instances(params):
        if STAGES[stage].record is None:
            write_results(layout.rows(stage, variant), [row(params, stage, variant or "first-pass")])
    return layout


def test_a_row_carries_what_it_is_of(workspace: Path) -> None:
    made = row(read_params(), "rerank", "tta/context")
    assert (made.experiment, made.metric, made.value, made.n, made.ci_low, made.seed) == (
        "tiny",
        "wer",
        0.5,
        3,
        0.4,
        1,
    )


def test_rows_are_read_by_the_names_in_the_settings_never_by_what_lies_there(workspace: Path) -> None:
    params = read_params()
    layout = write_all(params)
    write_results(layout.rows("rerank", "deleted-long-ago"), [row(params, "rerank", "deleted-long-ago")])
    assert {(each.table, each.system) for each in results(params)} == {
        ("pretrain", "tta"),
        ("pretrain", "segatron-xl"),
        ("perplexity", "tta"),
        ("perplexity", "segatron-xl"),
        ("ngram", "ngram-3"),
        *((evaluation, model) for evaluation, models in params.evaluate.items() for model in models),
        ("combine", "first-pass"),
        *((stage, "first-pass") for stage in ("compare", "compare-losses")),
        ("baselines", "first-pass"),
    }


def test_run_times_are_those_of_the_record_that_is_there(workspace: Path) -> None:
    """After an edit that is taken back, and where another machine measured."""
    layout = Layout(read_params().experiment)
    for number in (1, 2):
        write_json(layout.timed, {"repeats": number})
        assert timings(layout) == []
        write_results(layout.run_times(sha256(layout.timed)), [row(read_params(), "runtime", "tta", number)])
    write_json(layout.timed, {"repeats": 1})
    assert [each.value for each in timings(layout)] == [1]


def test_a_missing_file_of_rows_is_named(workspace: Path) -> None:
    params = read_params()
    write_all(params).rows("sts", "tta").unlink()
    with pytest.raises(InputError, match=r"artifacts/tiny/rows/sts/tta\.jsonl: no such file"):
        results(params)


def test_mlflow_keeps_every_curve_prediction_and_map_of_attention() -> None:
    params = read_params(ROOT / "presets" / "small.yaml")
    layout = Layout(params.experiment)
    folders = [layout.artifacts / name for name in ("curves", "glue", "predictions", "attention")]
    made = {path for path in dvc_yaml.outputs(params) if any(map(path.is_relative_to, folders))}
    kept = {
        path
        for stage, variant in instances(params)
        if (of := STAGES[stage].files)
        for path in of(layout, variant)
        if any(map(path.is_relative_to, folders))
    }
    assert {path.relative_to(layout.artifacts).parts[0] for path in made} == {path.name for path in folders}
    assert kept == made - {layout.catalogue(layout.all_attention)}
