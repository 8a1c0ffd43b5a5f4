"""The metrics of N-best lists by their names: one registry for Python, the command line, the stages and the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quartet.arguments import check_choice
from quartet.config.nbest import BleuSettings
from quartet.nbest.bleu import Bleu
from quartet.nbest.metrics import Metric
from quartet.nbest.word_errors import WordErrorRate


@dataclass(frozen=True)
class KnownMetric:
    """A metric.

    Attributes:
        make: the metric itself; the settings are BLEU's.
        better: the sign of a change for the better.
        label: its figure with its unit, before a number.
        axis: beside a picture's axis.
        unit: in a sentence.
    """

    make: Callable[[BleuSettings], Metric]
    better: int
    label: str
    axis: str
    unit: str


#: The same names as in :data:`quartet.config.choices.MetricName`.
METRICS: dict[str, KnownMetric] = {
    "wer": KnownMetric(
        lambda _: WordErrorRate(), WordErrorRate.better, "WER, %", "word error rate, %", "WER in %"
    ),
    "bleu": KnownMetric(
        lambda bleu: Bleu(bleu.lowercase, bleu.tokenize), Bleu.better, "BLEU", "BLEU", "BLEU"
    ),
}


def metric_named(name: str, bleu: BleuSettings | None = None) -> Metric:
    """A metric by its name.

    Args:
        bleu: sacrebleu's settings; None: its defaults.

    Raises:
        InputError: there is no such metric.
    """
    check_choice(name, METRICS, "metric")
    return METRICS[name].make(bleu or BleuSettings())
