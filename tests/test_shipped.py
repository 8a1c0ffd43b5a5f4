"""The model that comes with Quartet: it opens, it is small, and its page says what was measured."""

from __future__ import annotations

import re

import pytest

import quartet
from quartet.results import read_results
from quartet.shipped import WEIGHTS
from tests.committed import report_rows


def test_it_opens_and_prefers_english_to_the_same_words_in_disorder() -> None:
    model = quartet.load(WEIGHTS)
    ordered, disordered = model.score(
        ["the old man went down to the river", "river the to down went man old the"]
    )
    assert ordered > disordered + 5


def test_it_is_small_enough_for_a_repository() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 20e6


@pytest.mark.parametrize(
    "dataset", ["librispeech-clean", "librispeech-other", "speech-clean", "speech-other"]
)
def test_the_figures_of_its_page_are_those_of_the_report(dataset: str) -> None:
    rows = {
        row.system: row
        for row in read_results(report_rows("small-gpu"))
        if (row.table, row.dataset, row.split, row.metric) == ("rerank", dataset, "test", "wer")
        and row.seed in (None, 1)
    }
    cells = []
    for system in ("first-pass", "tta"):
        row = rows[system]
        assert row.ci_low is not None and row.ci_high is not None
        cells.append(f"{row.value:.2f} [{row.ci_low:.2f}, {row.ci_high:.2f}]")
    page = (WEIGHTS.parent / "README.md").read_text(encoding="utf-8")
    assert re.search(re.escape(" | ".join(cells)), page), cells
