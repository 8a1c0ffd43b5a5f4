"""The README says what the committed report says, and its models exist; tests/test_docs.py holds its commands."""

from __future__ import annotations

import math
import re
from pathlib import Path

from pipeline.params import load
from pipeline.readme import block, placed
from quartet.results import read_results
from tests.committed import committed
from tests.imports import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_results_are_those_of_the_report(tmp_path: Path) -> None:
    results, timings = (
        committed(f"reports/sample/{name}.jsonl", tmp_path) for name in ("results", "timings")
    )
    readme = committed("README.md", tmp_path).read_text(encoding="utf-8")
    content = block(read_results(results), read_results(timings))
    assert placed(readme, content) == readme, "run python -m pipeline.readme"


def test_every_model_of_the_text_exists() -> None:
    models = load(ROOT / "presets" / "sample.yaml").models
    for name in (
        "unilm",
        "bilm",
        "tta",
        "bert-",
        "segabert",
        "tta-segments",
        "transformer-xl",
        "segatron-xl",
    ):
        assert f"`{name}`" in README
        assert name in models


def test_the_preset_of_the_study_is_what_ran() -> None:
    small = ROOT / "presets" / "small.yaml"
    assert small.read_bytes() == (ROOT / "reports" / "small" / "params.yaml").read_bytes()


def test_the_study_on_real_sets_is_what_its_report_says() -> None:
    rows = {
        (row.table, row.dataset, row.system, row.metric): row
        for row in read_results(ROOT / "reports" / "small" / "results.jsonl")
        if row.split == {"training": "valid", "glue": "dev_matched"}.get(row.table, "test")
    }
    found = {key: row.value for key, row in rows.items()}

    def gain(lists: str, system: str) -> str:
        change = rows["rerank", lists, system, "bleu-difference"]
        return f"({change.value:+.1f} [{change.ci_low:+.1f}, {change.ci_high:+.1f}])"

    text = " ".join(README.split())
    for lists, name in (("librispeech-clean", "test-clean"), ("librispeech-other", "test-other")):
        before, after = (found["rerank", lists, system, "wer"] for system in ("first-pass", "tta"))
        assert f"from {before:.2f} to {after:.2f} % ({name})" in text
    for system in ("bilm", "ngram-5"):
        clean, other = (found["rerank", f"librispeech-{kind}", system, "wer"] for kind in ("clean", "other"))
        assert f"({clean:.2f} and {other:.2f} %)" in text
    similar = [100 * found["sts", "stsb", f"{model}/context", "pearson"] for model in ("tta", "bilm")]
    assert "STS-B, {:.1f} against {:.1f}".format(*similar) in text
    for pair, name in (("de-en", "De→En from BLEU"), ("fr-en", "Fr→En from")):
        lists = f"multi30k-{pair}"
        before, after = (found["rerank", lists, system, "bleu"] for system in ("first-pass", "tta"))
        assert f"{name} {before:.1f} to {after:.1f} {gain(lists, 'tta')}" in text
    for system, name in (("tta-segments", "T-TA with segments"), ("bilm", "the biLM")):
        assert f"{name} {gain('multi30k-fr-en', system)}" in text

    def change(dataset: str, plain: str, aware: str) -> str:
        row = rows["perplexity-pairs", dataset, f"{plain} - {aware}", "loss-difference"]
        assert row.ci_low is not None and row.ci_high is not None
        middle, low, high = (100 * math.expm1(-nats) for nats in (row.value, row.ci_high, row.ci_low))
        return f"{middle:+.1f} % [{low:+.1f}, {high:+.1f}]"

    resets = []
    for dataset, ending, where in (("wikitext-2", "", "on WikiText-2"), ("books", "-books", "on the books")):
        plain, aware, reset = (
            f"{name}{ending}" for name in ("transformer-xl", "segatron-xl", "segatron-xl-reset")
        )
        without, with_them = (found["perplexity", dataset, name, "ppl"] for name in (plain, aware))
        assert re.search(
            re.escape(f"{where} ({without:.1f} and {with_them:.1f}")
            + "(?: with them)?: "
            + re.escape(change(dataset, plain, aware)),
            text,
        )
        resets.append(change(dataset, plain, reset))
    assert f"(`index: reset`), it is {resets[0]} and {resets[1]}" in text
    for table, dataset, tuned, metric, scale, phrase in (
        ("training", "books", "", "loss", 1, "steps ({:.2f} and {:.2f} nats)"),
        ("glue", "mnli-part", "", "accuracy", 100, "(MNLI, {:.1f} and {:.1f} %)"),
        ("sts", "sts-average", "/nli", "spearman-mean", 100, "lose ({:.1f} and {:.1f})"),
    ):
        figures = [scale * found[table, dataset, f"{name}{tuned}", metric] for name in ("bert-", "segabert")]
        assert phrase.format(*figures) in text
