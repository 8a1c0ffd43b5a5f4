"""Texts labelled by baselines without a language model."""

from __future__ import annotations

from quartet.tasks.classification.baselines import PREDICTORS, bag_of_words, majority
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.protocol import cross_validate
from tests.tasks.classification.test_metrics import LABELS
from tests.tasks.classification.test_protocol import EXAMPLES


def test_the_baselines() -> None:
    assert list(PREDICTORS) == ["majority", "bag-of-words"]
    assert majority(EXAMPLES, ["x", "y"]) == ["neg", "neg"]
    assert majority(EXAMPLES[:2], ["x"]) == ["neg"]  # a tie
    assert cross_validate(EXAMPLES, bag_of_words, 5, seed=1) == LABELS
    shuffled = [
        LabelledText(text.text, label) for text, label in zip(EXAMPLES, LABELS[1:] + LABELS[:1], strict=True)
    ]
    assert cross_validate(shuffled, bag_of_words, 5, seed=1) != [example.label for example in shuffled]
