"""Reranked lists taken apart by the length of what was said."""

from __future__ import annotations

from quartet.report.numbers import wer
from quartet.report.page import Column, Report
from quartet.report.sections.rerank import MEASURES, Measured

TABLE = "rerank-length"


def body(report: Report) -> list[str]:
    """For each set of lists a row a system and a column a range of lengths."""
    lines = [
        "The same choices on test, by the number of words of the reference: where a language model helps. "
        "The weight is that of the whole set.",
        "",
    ]
    for dataset in report.datasets(TABLE):
        for measured in MEASURES:
            lines += _table(report, dataset, measured)
    return lines


def _table(report: Report, dataset: str, measured: Measured) -> list[str]:
    systems = report.systems(TABLE, dataset, None, [measured.metric])
    if not systems:
        return []
    ranges = [split for name, split in report.groups(TABLE) if name == dataset]
    ranges.sort(key=lambda words: int(words.partition("-")[0]))
    columns = [
        Column(
            f"{head(words)}",
            report.measured("", wer, TABLE, dataset, words, measured.metric).entry,
        )
        for words in ranges
    ]
    lines = [f"**`{dataset}`**, {measured.head}:", "", *report.table(systems, columns)]
    return lines + report.caption(TABLE, "utterances in a column")


def head(words: str) -> str:
    """The head of a column: "0-5 words", "21 words or more"."""
    low, _, high = words.partition("-")
    return f"{words} words" if high else f"{low} words or more"


def findings(report: Report) -> list[str]:
    """None: the parts are small, and nobody asked them a question beforehand."""
    return []
