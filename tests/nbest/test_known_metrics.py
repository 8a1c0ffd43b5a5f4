"""The registry of metrics: it has what settings and the command line offer, and makes them by their settings."""

from __future__ import annotations

from typing import get_args

import pytest

from quartet.config.choices import MetricName
from quartet.config.nbest import BleuSettings
from quartet.errors import InputError
from quartet.nbest.bleu import Bleu
from quartet.nbest.known_metrics import METRICS, metric_named


def test_every_name_has_its_metric() -> None:
    assert list(METRICS) == list(get_args(MetricName))
    for name, known in METRICS.items():
        metric = metric_named(name)
        assert (metric.name, metric.better) == (name, known.better)


def test_the_settings_of_bleu_reach_it() -> None:
    assert metric_named("bleu") == Bleu()
    assert metric_named("bleu", BleuSettings(lowercase=True, tokenize="char")) == Bleu(True, "char")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"metric: unknown value 'ter'; choose one of wer, bleu"):
        metric_named("ter")


@pytest.mark.parametrize("name", METRICS)
def test_the_words_for_a_metric_are_its_own(name: str) -> None:
    names = {"wer": ("WER", "word error rate"), "bleu": ("BLEU",)}
    known = METRICS[name]
    for text in (known.label, known.axis, known.unit):
        assert [one for one, words in names.items() if any(word in text for word in words)] == [name]
