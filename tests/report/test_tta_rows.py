"""Which of our systems stands in the T-TA paper's row of n-gram models."""

from __future__ import annotations

import dataclasses

from quartet.report.cells import Cells
from quartet.report.facts import read_facts
from quartet.report.papers import tta
from quartet.report.run_report import Report
from quartet.results import read_results
from tests.committed import committed, report_rows
from tests.report.synthetic import facts, row


def test_only_an_n_gram_model_of_the_run_is_that_row() -> None:
    known = dataclasses.replace(facts(), ngrams=("news-and-books",))
    systems = ("ngram-5-and-tta", "tta", "news-and-books")
    rows = [row("rerank", name, "lists", "test", "wer", 10.0 + at, 100) for at, name in enumerate(systems)]
    assert tta.wers(Report(Cells(rows), known))[0].ours["ngram"].value == 12.0


def test_the_row_of_n_grams_is_the_n_gram_model_alone() -> None:
    """The reports on real sets also weigh the 5-gram and T-TA together; that is no row of the paper."""
    for name in ("small", "small-gpu"):
        rows = read_results(report_rows(name))
        known = read_facts(committed(f"reports/{name}/facts.json"))
        report = Report(Cells(rows), known)
        for series in tta.wers(report):
            lists = series.ours_on.split("`")[1]
            alone = report.find("rerank", lists, "test", "ngram-5", "wer")
            assert report.find("rerank", lists, "test", "ngram-5-and-tta", "wer") is not None
            assert alone is not None and series.ours["ngram"] == alone
