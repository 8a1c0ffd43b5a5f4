"""What lists are judged by: how each metric is called, which way is better, and the papers' tables of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ListMetric:
    """A metric of N-best lists.

    Attributes:
        axis: beside a picture's axis.
        unit: of a figure, as a sentence has it.
        better: the sign of a change for the better.
        papers: the published tables of the same metric.
    """

    axis: str
    unit: str
    better: int
    papers: tuple[str, ...]


#: By the metric's name in the results.
LIST_METRICS = {
    "wer": ListMetric("word error rate, %", "WER in %", -1, ("tta-wer-own", "tta-wer-shin2019")),
    "bleu": ListMetric("BLEU", "BLEU", 1, ("tta-bleu",)),
}
