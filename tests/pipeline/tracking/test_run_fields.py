"""What MLflow is told of a stage instance: the names of its metrics, and what it has read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.tracking.run_fields import ArtifactInput, in_words, inputs, metric_name
from quartet.files import sha256, write_json
from quartet.results import Result

WER = Result(
    experiment="tiny",
    table="rerank",
    model="tta",
    dataset="speech",
    split="test",
    metric="wer",
    value=12.5,
    n=10,
    ci_low=None,
    ci_high=None,
    seed=1,
    device="cpu",
    scale="small",
)


@pytest.fixture
def params(workspace: Path) -> Params:
    return read_params()


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (WER, "rerank/speech/test/wer"),
        (replace(WER, reading="context"), "rerank/speech/test/wer/context"),
        (replace(WER, model="first-pass", seed=None), "rerank/speech/test/wer/first-pass"),
        (replace(WER, model="segatron-xl", reading="context"), "rerank/speech/test/wer/segatron-xl/context"),
        (replace(WER, versus="segatron-xl"), "rerank/speech/test/wer/tta - segatron-xl"),
    ],
)
def test_a_metric_is_named_without_the_model_of_the_run_where_it_is_of_it_alone(
    row: Result, name: str
) -> None:
    assert metric_name(row, "tta") == name


#: Stage, instance -> the parts of artifacts that it reads, as (name, context).
READ: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("segment", "wikipedia-sample"): [("wikipedia-sample", "all")],
    ("tokenizer", "wordpiece-1k"): [("wikipedia-sample train", "train")],
    ("encode", "wikipedia-sample-wordpiece-1k"): [
        (f"wikipedia-sample {split}", split) for split in ("train", "valid", "test")
    ],
    ("ngram", "ngram-3"): [(f"wikipedia-sample {split}", split) for split in ("train", "test")],
    ("pretrain", "tta"): [(f"wikipedia-sample/wordpiece-1k {split}", split) for split in ("train", "valid")],
    ("perplexity", "tta"): [("wikipedia-sample/wordpiece-1k test", "test")],
    ("attention", "tta"): [("wikipedia-sample/wordpiece-1k test", "test")],
    ("compare-losses", ""): [("wikipedia-sample/wordpiece-1k test", "test")],
    ("rerank", "tta"): [("sample-speech dev", "dev"), ("sample-speech test", "test")],
}


@pytest.mark.parametrize(("stage", "variant"), READ)
def test_a_stage_has_read_the_splits_that_it_works_on(params: Params, stage: str, variant: str) -> None:
    layout = Layout(params.experiment)
    splits = {"train": {"tokens": 7}, "valid": {"tokens": 8}, "test": {"tokens": 9}}
    folders: list[tuple[Path, dict[str, Any]]] = [
        (layout.raw("wikipedia-sample"), {"bytes": 5}),
        (layout.segments("wikipedia-sample"), {"splits": splits}),
        (layout.encoded("wikipedia-sample", "wordpiece-1k"), {"splits": splits}),
        (layout.nbest("sample-speech"), {"dev": {"lists": 3}, "test": {"lists": 4}}),
    ]
    assert inputs(params, layout, stage, variant) == [], "nothing is there yet"
    for folder, manifest in folders:
        write_json(folder / MANIFEST, manifest)
    found = inputs(params, layout, stage, variant)
    assert [(each.name, each.context) for each in found] == READ[stage, variant]
    for each in found:
        assert each.sha256 == sha256(each.folder / MANIFEST)
        whole = dict(folders)[each.folder]
        assert each.counts == (whole if each.context == "all" else whole.get("splits", whole)[each.context])


@pytest.mark.parametrize("absent", ["lee", "stsb"])
def test_a_set_that_is_not_there_is_not_read(params: Params, absent: str) -> None:
    layout = Layout(params.experiment)
    for name in ("lee", "stsb"):
        write_json(layout.task(params.tasks[name].kind, name) / MANIFEST, {"available": name != absent})
    found = [each.name for each in inputs(params, layout, "sts", "tta")]
    assert found == [name for name in ("lee", "stsb") if name != absent]


def test_what_was_read_is_counted() -> None:
    counts: dict[str, dict[str, Any]] = {
        "lee": {"items": 1225, "sha256": "abc"},
        "stsb": {"items": {"dev": 1500, "test": 1379}},
        "speech dev": {"hypotheses": 7488, "lists": 150, "refused": 2},
    }
    found = [ArtifactInput(name, "all", "abc", Path(), own) for name, own in counts.items()]
    assert in_words(found) == (
        "lee (1,225 items), stsb (2,879 items), speech dev (150 lists, 7,488 hypotheses)"
    )
    assert in_words([]) == ""
