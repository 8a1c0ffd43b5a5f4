"""What finds our figures for each of the papers' tables and figures, by the names that exhibits.yaml has."""

from __future__ import annotations

from collections.abc import Callable

from quartet.report.papers import segabert, segatron, tta
from quartet.report.papers.exhibit import Exhibit
from quartet.report.papers.series import Series
from quartet.report.run_report import Report

FINDERS: dict[str, Callable[[Report], list[Series]]] = {
    one.__name__: one
    for one in (
        *(tta.wers, tta.bleus, tta.stsb, tta.sick, tta.perplexities),
        *(tta.times_on_cpu, tta.times_one_way, tta.times_on_gpu),
        *(segatron.wikitext, segatron.positions, segatron.causal_losses, segatron.input_lengths),
        *(segatron.masked_losses, segabert.glue_dev, segabert.glue_test, segabert.siamese),
        *(segabert.questions, segabert.choices, segabert.looks),
    )
}


def ours(report: Report, exhibit: Exhibit) -> list[Series]:
    """Our figures beside those of an exhibit."""
    return FINDERS[exhibit.ours](report)
