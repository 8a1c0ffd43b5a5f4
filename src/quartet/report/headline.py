"""A run in three sentences: what it shows, what it cannot show, and what would change that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from quartet.report import loss
from quartet.report.facts import RunFacts
from quartet.report.numbers import listing, millions
from quartet.report.papers.chapter import Claim, judged
from quartet.report.papers.exhibits import exhibits
from quartet.report.papers.series import (
    ANOTHER_SET,
    BETTER,
    FEW_DRAWS,
    NO_INTERVAL,
    NOT_KEPT,
    OPEN,
    OPPOSITE,
    SHOWN,
)
from quartet.report.run_report import Report, code, named
from quartet.results import Result
from quartet.statistics.intervals import LEAST_DRAWS, LEAST_UNITS, SIGNIFICANCE

#: As many claims as a sentence names.
FEW = 4


def headline(results: Iterable[Result], facts: RunFacts) -> tuple[str, str, str]:
    """What a run shows of the papers' claims, what it cannot show, and what would change it: Markdown, a sentence each.

    Args:
        results: the rows of results.jsonl.
        facts: of facts.json beside it.
    """
    report = Report(results, facts)
    return of_claims(report, judged(report, exhibits()))


def of_claims(report: Report, family: Sequence[Claim]) -> tuple[str, str, str]:
    """The three sentences of claims that are judged."""
    reasons = dict(_limits(report, family))
    return (
        f"**Shown:** {listing(_shown(family))}.",
        f"**Not shown:** {listing(list(reasons))}.",
        f"**What would change it:** {listing(list(dict.fromkeys(reasons.values())))}.",
    )


def _shown(family: Sequence[Claim]) -> list[str]:
    """The claims with a significant difference, and on how many sets."""
    found = []
    for verdict, words in ((SHOWN, ""), (BETTER, " (better here)"), (OPPOSITE, " (the opposite)")):
        for claim in family:
            if count := sum(one.verdict == verdict for one in claim.comparisons):
                sets = f"on {count} of {len(claim.comparisons)} sets"
                found.append(f"“{claim.contrast.headline}”{words} {sets}")
    other = [
        f"{code(claim.contrast.first)} against {code(claim.contrast.second)} on {one.series.ours_on} "
        f"{one.series.change_text(one.change)}"
        for claim in family
        for one in claim.comparisons
        if one.verdict == ANOTHER_SET
        and one.change
        and one.change.p is not None
        and one.change.p < SIGNIFICANCE
    ]
    more = [f"{len(other) - FEW} more"] if len(other) > FEW else []
    if other:
        found.append(f"on sets that are not the papers', {listing([*other[:FEW], *more])}")
    return found or ["no claim of the papers"]


def _limits(report: Report, family: Sequence[Claim]) -> Iterator[tuple[str, str]]:
    """Yield why something is not shown, and what would change that."""
    verdicts = [one.verdict for claim in family for one in claim.comparisons]
    of = f" of {len(verdicts)} comparisons with the papers"
    for verdict, words, remedy in (
        (OPEN, "are not significant", "more test items"),
        (ANOTHER_SET, "are on sets that are not theirs", "the papers' sets (`presets/paper-*.yaml`)"),
        (NOT_KEPT, "have no kept difference over the same items", "evaluating again with this version"),
        (
            NO_INTERVAL,
            f"are over fewer than {LEAST_UNITS} units",
            f"test sets of {LEAST_UNITS} units or more",
        ),
        (
            FEW_DRAWS,
            f"have intervals from fewer than {LEAST_DRAWS:,} draws",
            f"`bootstrap: {LEAST_DRAWS}`",
        ),
    ):
        if count := verdicts.count(verdict):
            yield f"{count}{of} {words}", remedy
            of = ""
    weak = named(model.name for model in report.facts.models if loss.at_unigram(report, model.name))
    if weak:
        yield f"nothing of {weak}, not below the unigram", f"longer training of {weak}"
    if len(report.facts.seeds) == 1:
        yield "one training of each model does not include seed variance", "further `seeds`"
    read = [
        cell.value
        for model in report.facts.models
        if (cell := report.find("training", model.corpus, "valid", model.name, "tokens"))
    ]
    if read:
        yield f"no model read more than {millions(max(read))} tokens", "more text and more steps"
