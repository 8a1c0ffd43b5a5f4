"""The README of an experiment: what was run, what the numbers show, and every table, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from quartet.report import scale
from quartet.report.cells import Cells
from quartet.report.facts import Facts, ListFacts
from quartet.report.numbers import count, listing, millions
from quartet.report.page import Report, code, grid, named, plain
from quartet.report.published import published
from quartet.report.sections import SECTIONS
from quartet.results import Result

ABSENT = "This part was not run in this experiment."
OBJECTIVES = {
    "clm": "CLM, which predict the next token",
    "mlm": "MLM, which predict masked tokens",
    "lae": "LAE, T-TA's objective, which predict every token from all the others in one pass",
}


def markdown(results: Iterable[Result], timings: Iterable[Result], facts: Facts) -> str:
    """The whole README.md; equal input gives an equal text.

    Args:
        results: of the experiment. Tables and figures that no section knows are shown too, in plain lists.
        timings: results that differ from run to run: table "runtime", and seconds of other tables.
        facts: what was run; `facts.figures` are the pictures to show.

    Raises:
        ValueError: two results are of one figure and one seed.
    """
    report = Report(Cells([*results, *timings]), facts)
    bodies: list[str] = []
    for table, section in SECTIONS.items():
        bodies += [f"## {section.title}", ""]
        bodies += [*section.body(report), *report.rest(table)] if report.cells.places(table) else [ABSENT, ""]
    for table in report.cells.tables():
        if table not in SECTIONS:
            bodies += [f"## {table}", "", *report.rest(table)]
    lines = [
        f"# Quartet: experiment `{facts.experiment}`",
        "",
        *_run(report),
        "## What the numbers show",
        "",
        *_findings(report),
        *bodies,
        *_absent(facts),
        "## Scale, and what cannot be concluded",
        "",
        *scale.lines(report),
        "## Sources of the published figures",
        "",
        *(f"- {paper.name}: {plain(paper.cite)}." for paper in published().papers.values()),
    ]
    return "\n".join(lines) + "\n"


def _absent(facts: Facts) -> list[str]:
    """The sets that were not there, and how to get them."""
    if not facts.absent:
        return []
    rows = [[code(one.name), one.kind, plain(one.reason), plain(one.obtain)] for one in facts.absent]
    return ["## Sets that were not available", "", *grid(["set", "kind", "why", "to be had from"], rows)]


def _run(report: Report) -> list[str]:
    """What was run, in a few sentences."""
    facts = report.facts
    seeds = f"{len(facts.seeds)} seeds ({listing([str(seed) for seed in facts.seeds])})"
    if len(facts.seeds) == 1:
        seeds = f"one seed ({facts.seeds[0]})"
    lines = [f"{len(facts.models)} models, {seeds}, on {plain(facts.device)}."]
    for objective, words in OBJECTIVES.items():
        names = [model.name for model in facts.models if model.objective == objective]
        lines += [f"- {words}: {named(names)}."] if names else []
    aware = [model.name for model in facts.models if model.segment_aware]
    lines += (
        [f"- Of these {named(aware)} also see sentence and paragraph positions (segments)."] if aware else []
    )
    for corpus in facts.corpora:
        license = f", {plain(corpus.license)}" if corpus.license else ""
        lines.append(
            f"- Text `{corpus.name}`{license}: {count(corpus.documents)} documents, "
            f"{count(corpus.paragraphs)} paragraphs, {count(corpus.sentences)} sentences, "
            f"{millions(corpus.words)} words. Sentences by NLTK's Punkt: {plain(corpus.punkt)}."
        )
    lines += [
        f"- Tokenizer `{one.name}`: {one.kind}, {count(one.vocabulary)} entries." for one in facts.tokenizers
    ]
    lines += [_lists(one) for one in facts.lists]
    return [*lines[:1], "", *lines[1:], f"- Scale: {scale.sizes(report)}", ""]


def _lists(lists: ListFacts) -> str:
    origin = f" ({plain(lists.origin)})" if lists.origin else ""
    most = f", up to {lists.hypotheses} hypotheses each" if lists.hypotheses else ""
    line = f"- N-best lists `{lists.name}`{origin}: {lists.dev} dev and {lists.test} test utterances{most}."
    if lists.ranked:
        line += " They have no first-pass scores: the rank stands for them (0, -1, -2, ... in a list)."
    if lists.refused:
        line += (
            f" {count(lists.refused)} malformed entries were left out (`nbest/{lists.name}/refused.jsonl`)."
        )
    return line


def _findings(report: Report) -> list[str]:
    """What the sections say, under the rule by which they say it."""
    found = [sentence for section in SECTIONS.values() for sentence in section.findings(report)]
    if not found:
        return ["No figure that this report knows how to read was measured.", ""]
    rule = (
        "Written from the figures: [low, high] are 95 % intervals over test items, and a difference is "
        "called shown only where its interval leaves out 0 or the two intervals stay apart."
    )
    return [rule, "", *(f"- {sentence}" for sentence in found), ""]
