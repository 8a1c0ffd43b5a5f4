"""The blocks of the pages are what the committed reports give, and each is made as hand-made records ask."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from docs.quoted.blocks import PAGES, refreshed, report_list, sample_metrics
from docs.quoted.tables import as_perplexity, pairs, sample
from quartet.errors import InputError
from quartet.report.facts import read_facts
from quartet.results import Result, read_results, write_results
from tests.committed import committed


@pytest.mark.parametrize("page", PAGES)
def test_the_committed_blocks_are_those_of_the_committed_reports(page: str) -> None:
    text = committed(page).read_text(encoding="utf-8")
    assert refreshed(page, text, committed("reports")) == text, "run make docs"


def test_every_committed_report_is_listed() -> None:
    listed = committed("reports/README.md").read_text(encoding="utf-8")
    for results in committed("reports").glob("*/results.jsonl"):
        assert f"| [{results.parent.name}](" in listed


def test_a_page_without_marks_is_named() -> None:
    with pytest.raises(
        InputError, match=r"docs/pipeline\.md: has not the marks <!-- sample-metrics:begin -->"
    ):
        refreshed("docs/pipeline.md", "no block here\n", Path("reports"))


def duration(split: str, seconds: float, device: str) -> Result:
    return Result(
        experiment="one",
        table="duration",
        model="pretrain",
        dataset="tta",
        split=split,
        metric="seconds",
        value=seconds,
        n=1,
        ci_low=None,
        ci_high=None,
        seed=None,
        device=device,
        scale="one run",
    )


def test_the_list_of_reports_has_what_their_durations_say(tmp_path: Path) -> None:
    path = tmp_path / "one" / "times" / "timings.jsonl"
    path.parent.mkdir(parents=True)
    rows = [
        duration("train/seed-1", 3600, "B"),
        duration("train/seed-2", 5400, "A"),
        duration("total", 9999, "C"),
    ]
    write_results(path, [*rows, replace(rows[0], model="translate")])
    before = [
        "| report | asks | trainings | on | hours | code |",
        "|:--|",
        "| [one](one) | why | 7 | X | 0.1 | abc |",
    ]
    assert report_list(before, tmp_path) == [*before[:2], "| [one](one) | why | 2 | A and B | 2.5 | abc |"]


def test_metrics_are_as_dvc_shows_them(tmp_path: Path) -> None:
    folder = tmp_path / "sample" / "metrics"
    folder.mkdir(parents=True)
    (folder / "tta.json").write_text(json.dumps({"wer": {"lists": 22.0813549}, "loss": {"test": 5.0}}))
    (folder / "oracle.json").write_text(json.dumps({"wer": {"lists": 10.5}}))
    old = [
        "```",
        "Path    x",
        "reports/sample/metrics/oracle.json",
        "…",
        "reports/sample/metrics/tta.json    -",
        "```",
    ]
    assert sample_metrics(old, tmp_path) == [
        "```",
        "Path                                  loss.test    wer.lists",
        "reports/sample/metrics/oracle.json    -            10.5",
        "…",
        "reports/sample/metrics/tta.json       5.0          22.08135",
        "```",
    ]


def test_a_difference_of_losses_is_a_change_of_perplexity() -> None:
    row = replace(duration("test", -0.1, "cpu"), ci_low=-0.2, ci_high=0.05)
    assert as_perplexity(row) == "+10.5 % [-4.9, +22.1]"


def test_a_pair_that_its_report_lacks_is_named(tmp_path: Path) -> None:
    write_results(tmp_path / "small-seeds" / "results.jsonl", [duration("test", 1.0, "cpu")])
    with pytest.raises(InputError, match=r"transformer-xl.*segatron-xl.*wikitext-2"):
        pairs("small-seeds-pairs", tmp_path)


def test_a_model_that_came_trained_has_a_row_and_says_its_scale() -> None:
    results = read_results(committed("reports/sample/results.jsonl"))
    results = [row for row in results if not row.system.startswith("tta-books")]
    facts = read_facts(committed("reports/sample/facts.json"))
    own = {"rerank": ("wer", "wer-difference"), "sts": ("pearson",)}
    more = [
        replace(row, model="tta-books", scale="13.89 M parameters, books")
        for row in results
        if row.system in ("tta", "tta/context") and row.metric in own.get(row.table, ())
    ]
    assert "tta-books" not in "\n".join(sample(results, [], facts))
    text = "\n".join(sample([*results, *more], [], facts))
    assert "\n| `tta-books` | – | " in text
    assert "(13.89 M parameters, books)" in text
