"""The sections of a report and of its page of times, in their order; a new one is one file and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quartet.report.page import Report
from quartet.report.sections import (
    attention,
    blimp,
    classification,
    durations,
    glue,
    nli,
    perplexity,
    perplexity_pairs,
    race,
    reference_perplexity,
    rerank,
    rerank_lengths,
    rerank_pairs,
    runtime,
    squad,
    sts,
    training,
    wordsim,
)


@dataclass(frozen=True)
class Section:
    """A section: its title, its lines of Markdown, and the sentences that it gives to the first screen."""

    title: str
    body: Callable[[Report], list[str]]
    findings: Callable[[Report], list[str]]


#: By the table of the results that a section shows.
SECTIONS: dict[str, Section] = {
    training.TABLE: Section("Training", training.body, training.findings),
    perplexity.TABLE: Section("Perplexity", perplexity.body, perplexity.findings),
    perplexity_pairs.TABLE: Section(
        "Perplexity: models against each other", perplexity_pairs.body, perplexity_pairs.findings
    ),
    rerank.TABLE: Section("Reranking", rerank.body, rerank.findings),
    rerank_lengths.TABLE: Section("Reranking by length", rerank_lengths.body, rerank_lengths.findings),
    rerank_pairs.TABLE: Section(
        "Reranking: systems against each other", rerank_pairs.body, rerank_pairs.findings
    ),
    reference_perplexity.TABLE: Section(
        "Perplexity of references", reference_perplexity.body, reference_perplexity.findings
    ),
    sts.TABLE: Section("Semantic similarity (STS)", sts.body, sts.findings),
    nli.TABLE: Section("Natural language inference (NLI)", nli.body, nli.findings),
    wordsim.TABLE: Section("Word similarity", wordsim.body, wordsim.findings),
    classification.TABLE: Section("Classification", classification.body, classification.findings),
    glue.TABLE: Section("GLUE", glue.body, glue.findings),
    squad.TABLE: Section("Questions (SQuAD)", squad.body, squad.findings),
    race.TABLE: Section("Multiple choice (RACE)", race.body, race.findings),
    blimp.TABLE: Section("Minimal pairs (BLiMP)", blimp.body, blimp.findings),
    attention.TABLE: Section("Where attention goes", attention.body, attention.findings),
}
#: What differs from run to run: the sections of the page of times, by table.
TIMES: dict[str, Section] = {
    runtime.TABLE: Section("Run-time", runtime.body, runtime.findings),
    durations.TABLE: Section("Durations", durations.body, durations.findings),
}
