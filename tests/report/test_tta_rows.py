"""Which of our systems stands in the T-TA paper's row of n-gram models."""

from __future__ import annotations

import pytest

from quartet.report.cells import Cells, Place
from quartet.report.page import Report
from quartet.report.papers import tta
from quartet.results import read_results
from tests.committed import committed, report_rows
from tests.report.synthetic import facts, row


@pytest.mark.parametrize(
    ("systems", "shown"),
    [(("ngram-5", "tta", "ngram-5-and-tta"), 10.0), (("tta", "ngram-news-and-books"), 11.0)],
)
def test_two_systems_together_are_told_by_the_names_of_both(systems: tuple[str, ...], shown: float) -> None:
    """A model's own name may hold `-and-`."""
    rows = [row("rerank", name, "lists", "test", "wer", 10.0 + at, 100) for at, name in enumerate(systems)]
    assert tta.wers(Report(Cells(rows), facts()))[0].ours["ngram"].value == shown


def test_the_row_of_n_grams_is_the_n_gram_model_alone() -> None:
    """The reports on real sets also weigh the 5-gram and T-TA together; that is no row of the paper."""
    for name in ("small", "small-gpu"):
        folder = committed(f"reports/{name}")
        found = Cells(read_results(report_rows(name)))
        page = (folder / "README.md").read_text(encoding="utf-8")
        for lists in ("librispeech-clean", "librispeech-other"):
            alone = found.find(Place("rerank", lists, "test", "ngram-5", "wer"))
            assert found.find(Place("rerank", lists, "test", "ngram-5-and-tta", "wer")) is not None
            assert alone is not None and alone.bounds is not None
            low, high = alone.bounds
            shown = f"{alone.value:.2f} [{low:.2f}, {high:.2f}]"
            assert f"| `ngram` | `{lists}` test, WER in % | {shown} |" in page
