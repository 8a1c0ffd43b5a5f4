"""Pairs of sentences judged for entailment: SNLI, MultiNLI, ANLI and HANS.

The Segatron paper's Table 5 is measured with encoders that were tuned on the first two.
"""

from __future__ import annotations

from dataclasses import dataclass

from quartet.tasks.judged_texts import (
    FIRST,
    GOLD,
    SECOND,
    ColumnMap,
    Columns,
    JudgedTexts,
    set_format,
)
from quartet.tasks.set_files import SetFormat, SetKind

#: The three judgements, in the order of their numbers on the hub.
LABELS = ("entailment", "neutral", "contradiction")
#: HANS tells only whether the hypothesis follows.
TWO_LABELS = ("entailment", "non-entailment")

#: The official files' columns, the hub's, those of ANLI's own files, and those of samples made for text classifiers.
_COLUMNS = (
    Columns(("sentence1", "sentence2"), "gold_label"),
    Columns(("premise", "hypothesis"), "label"),
    Columns(("context", "hypothesis"), "label"),
    Columns(("text_a", "text_b"), "label"),
)


@dataclass(frozen=True)
class NliPair:
    """A premise, a hypothesis, and what the judges said of the two.

    Attributes:
        label: one of `LABELS`, or of `TWO_LABELS` in HANS.
    """

    premise: str
    hypothesis: str
    label: str


def files_of(labels: tuple[str, ...]) -> ColumnMap:
    """How sets with these labels are written.

    What each judge said stands in the official tables' last columns, and a line may end before them.
    """
    return ColumnMap(
        hub=_COLUMNS,
        table=_COLUMNS,
        bare=((GOLD, FIRST, SECOND), (FIRST, SECOND, GOLD)),
        labels=labels,
        unjudged=("-", "-1", -1),
        last=r"label\d",
    )


def _format(splits: tuple[str, ...], obtain: str, labels: tuple[str, ...] = LABELS) -> SetFormat[NliPair]:
    return set_format(_pair, files_of(labels), splits, obtain)


def _pair(one: JudgedTexts) -> NliPair:
    assert one.label is not None, "every set has labels"
    return NliPair(one.texts[0], one.texts[1], one.label)


FORMATS: dict[str, SetFormat[NliPair]] = {
    "snli": _format(
        ("train", "dev", "test"),
        "stanfordnlp/snli on the Hugging Face hub (plain_text), or nlp.stanford.edu/projects/snli (snli_1.0.zip)",
    ),
    "mnli": _format(
        ("train", "dev_matched", "dev_mismatched"),
        "nyu-mll/multi_nli on the Hugging Face hub, or cims.nyu.edu/~sbowman/multinli (multinli_1.0.zip)",
    ),
    "anli": _format(
        ("train", "dev", "test"),
        "facebook/anli on the Hugging Face hub (three rounds), or github.com/facebookresearch/anli",
    ),
    "hans": _format(
        ("test",),
        "jhu-cogsci/hans on the Hugging Face hub (validation), or github.com/tommccoy1/hans",
        TWO_LABELS,
    ),
}

KIND = SetKind("nli", FORMATS)
