"""A run in three sentences: what it shows, what it cannot show, and what would change that."""

from __future__ import annotations

from collections.abc import Iterable

from quartet.report.facts import RunFacts
from quartet.report.papers.exhibits import exhibits, ours
from quartet.report.papers.series import SHOWN
from quartet.report.run_report import Report
from quartet.results import Result


def headline(results: Iterable[Result], facts: RunFacts) -> tuple[str, str, str]:
    """What a run shows of the papers' claims, what it cannot show, and what would change it: Markdown, a sentence each.

    Args:
        results: the rows of results.jsonl.
        facts: of facts.json beside it.
    """
    report = Report(results, facts)
    judged: dict[str, list[str]] = {}
    for exhibit in exhibits():
        for contrast in exhibit.contrasts:
            found = [series for series in ours(report, exhibit) if contrast.ours(series)]
            if contrast.headline and found:
                judged[contrast.headline] = [contrast.verdict(series) for series in found]
    shown = [claim for claim, verdicts in judged.items() if set(verdicts) == {SHOWN}]
    return (
        f"Of {len(judged)} claims of the papers that were run, {len(shown)} are shown on every set.",
        "One training of small models on little text cannot show which objective is better.",
        "More text, the papers' sets and further seeds would.",
    )
