"""The run-time study as the stage runs it: one file of rows, all systems, all figures that the report shows."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.tracking.stage import timings
from quartet.config.evaluation import RuntimeSettings
from quartet.errors import InputError
from quartet.files import read_json
from quartet.report.blocks import runtime as runtime_block
from quartet.report.facts import RunFacts
from quartet.report.run_report import Report
from quartet.results import Result
from quartet.scoring.language_model import LanguageModel
from quartet.text.documents import SegmentedDocument, SegmentedParagraph
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from stages import runtime
from stages.runtime_inputs import runtime_inputs
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
SENTENCE = "the old miller crossed the river"


@pytest.fixture
def run(
    small_corpus: Small, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[str], bool], list[Result]]:
    """The stage for untrained models of these kinds, on a short test text."""

    def models(_: Params, name: str) -> Iterator[LanguageModel]:
        yield random_model(name, small_corpus[0], max_length=64)

    paragraphs = (SegmentedParagraph((SENTENCE,), heading=True), SegmentedParagraph((SENTENCE,) * 7))
    document = SegmentedDocument("one", "One", paragraphs)
    monkeypatch.setattr(runtime, "read_segmented", lambda path: iter([document]))
    monkeypatch.setattr(runtime, "trained_models", models)
    monkeypatch.setattr(runtime, "choose_device", lambda wanted: "cpu")

    def rows(kinds: list[str], bert: bool) -> list[Result]:
        params = read_params()
        params = dataclasses.replace(
            params,
            models=dict.fromkeys(["tta", *kinds], params.models["tta"]),
            runtime=RuntimeSettings(models=kinds, words=[1, 3, 6], repeats=6, hypotheses=2, bert=bert),
        )
        monkeypatch.setattr(runtime, "load", lambda: params)
        for name in kinds:
            folder = Layout("tiny").model(name, params, params.seeds[0])
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "model.safetensors").write_text(name)
        runtime.runtime()
        return timings(Layout("tiny"))

    return rows


def test_rows_of_all_systems_lengths_and_figures(run: Callable[[list[str], bool], list[Result]]) -> None:
    pytest.importorskip("transformers")
    rows = run(["unilm", "bilm", "tta"], True)
    names = {"unilm", "bilm", "bilm-one-by-one", "tta", "hf-bert", "hf-bert-one-by-one"}
    assert {row.system for row in rows if row.metric == "ms"} == {
        f"{name}/{use}" for name in names for use in ("sts", "rerank")
    }
    assert {(row.split, row.table, row.device[:5]) for row in rows} == {("test", "runtime", "cpu (")}
    assert {row.dataset for row in rows} == {
        *("1-words", "3-words", "6-words", "2-best-of-20-words"),
        "3-to-6-words",
    }
    assert {row.metric for row in rows} == {"ms", "ms-iqr", "tokens", "over-tta", "exponent"}
    for row in rows:
        if row.metric == "over-tta":
            assert row.n == 6 and row.ci_low is None, "too few rounds for a bootstrap"
        if row.metric == "ms":
            assert row.n == 6 and row.ci_low is not None and row.ci_high is not None, row
            assert 0 < row.ci_low <= row.value <= row.ci_high, row
    masked = {f"{name}/{use}" for name in names if "b" in name for use in ("sts", "rerank")}
    assert {row.system for row in rows if row.metric == "over-tta"} == masked
    tokens = {row.dataset: row.value for row in rows if (row.system, row.metric) == ("tta/sts", "tokens")}
    assert tokens["1-words"] < tokens["3-words"] < tokens["6-words"] < tokens["2-best-of-20-words"]
    report = Report(rows, RunFacts(experiment="tiny", device="cpu", seeds=(1,)))
    text = "\n".join(runtime_block.block(report))
    assert report.rest("runtime") == [], "the section shows every figure"
    assert "times `tta`'s" in text and "b, 3 to 6 words" in text and "A list of 2 texts of 20 words" in text


def test_without_models_there_are_no_rows(run: Callable[[list[str], bool], list[Result]]) -> None:
    assert run([], False) == []


def test_what_dvc_sees_is_the_same_in_each_run_and_changes_with_what_is_timed(
    run: Callable[[list[str], bool], list[Result]],
) -> None:
    record = Layout("tiny").timed
    first, made = run(["tta"], False), record.read_bytes()
    again = run(["tta"], False)
    assert record.read_bytes() == made
    assert [row.value for row in again] != [row.value for row in first], "measured anew"
    run(["unilm"], False)
    assert record.read_bytes() != made


def test_a_bert_needs_a_masked_model_for_its_sizes(run: Callable[[list[str], bool], list[Result]]) -> None:
    with pytest.raises(InputError, match=r"runtime\.bert: no masked model is timed"):
        run(["tta"], True)


def test_the_inputs_are_the_digests_of_the_first_seeds_model_and_of_the_test_text(workspace: Path) -> None:
    layout = Layout("tiny")
    model, text = layout.models / "tta", layout.segments("wikipedia-sample") / "test.jsonl"
    for folder in (model / "seed-2", text.parent):
        folder.mkdir(parents=True)
    files = {"config.json": b"{}", "model.safetensors": b"weights"}
    for name, content in files.items():
        (model / name).write_bytes(content)
        (model / "seed-2" / name).write_bytes(b"another seed's")
    text.write_bytes(b"text")
    runtime_inputs("tta")
    assert read_json(layout.runtime_inputs("tta")) == {
        "model": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "text": hashlib.sha256(b"text").hexdigest(),
    }
