"""Which of our systems stands in the T-TA paper's row of n-gram models."""

from __future__ import annotations

from quartet.report.cells import Cells, Place
from quartet.results import read_results
from tests.imports import ROOT


def test_the_row_of_n_grams_is_the_n_gram_model_alone() -> None:
    """The reports on real sets also weigh the 5-gram and T-TA together; that is no row of the paper."""
    for name in ("small", "small-gpu"):
        folder = ROOT / "reports" / name
        found = Cells(read_results(folder / "results.jsonl"))
        page = (folder / "README.md").read_text(encoding="utf-8")
        for lists in ("librispeech-clean", "librispeech-other"):
            alone, both = (
                found.find(Place("rerank", lists, "test", system, "wer"))
                for system in ("ngram-5", "ngram-5-and-tta")
            )
            assert alone is not None and both is not None
            assert f"| `ngram` | `{lists}` test, WER in % | {alone.value:.2f} [" in page
            assert f"| `ngram` | `{lists}` test, WER in % | {both.value:.2f} " not in page
