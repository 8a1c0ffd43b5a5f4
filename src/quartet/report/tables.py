"""The report of an experiment: what was run, what the numbers show, and every table; and its README.

Its chapters are lines of Markdown. The README is these lines, and `quartet.report.html` makes a page of the same ones.
What differs from run to run is a document of its own (`times`), so that equal results give an equal report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quartet.report import elsewhere, scale
from quartet.report.cells import Cells
from quartet.report.facts import Facts, ListFacts
from quartet.report.numbers import count, listing, millions
from quartet.report.page import Report, code, grid, named, plain
from quartet.report.papers import chapter
from quartet.report.papers.exhibit import Exhibit
from quartet.report.papers.exhibits import EXHIBITS
from quartet.report.published import published
from quartet.report.sections import SECTIONS, TIMES, Section
from quartet.results import Result

CLAIMS = "The papers' claims, and what was found here"
FINDINGS = "What the numbers show"
ABSENT = "This part was not run in this experiment."
#: The folder of the page of times, in that of the report.
TIMES_FOLDER = "times"
OBJECTIVES = {
    "clm": "CLM, which predict the next token",
    "mlm": "MLM, which predict masked tokens",
    "lae": "LAE, T-TA's objective, which predict every token from all the others in one pass",
}


@dataclass(frozen=True)
class Chapter:
    """A part of the report: its title, its lines of Markdown, and parts of its own.

    Attributes:
        ran: whether there is anything to show: a part that was not run says so.
    """

    title: str
    lines: tuple[str, ...]
    parts: tuple[Chapter, ...] = ()
    ran: bool = True

    def markdown(self, level: int = 2) -> list[str]:
        """The lines with the headings."""
        parts = (line for part in self.parts for line in part.markdown(level + 1))
        return [f"{'#' * level} {self.title}", "", *self.lines, *parts]


@dataclass(frozen=True)
class Document:
    """The whole report, whatever it is written as.

    Attributes:
        title: of the experiment.
        scale: what was run, in two sentences.
        run: the same in full.
        claims: what the papers claim, and what was found.
        findings: what the numbers show.
        sections: a chapter a section, and one for each table that no section knows.
        papers: the papers' tables and figures, one by one.
        end: absent sets, scale and sources.
    """

    title: str
    scale: tuple[str, ...]
    run: tuple[str, ...]
    claims: Chapter
    findings: Chapter
    sections: tuple[Chapter, ...]
    papers: Chapter
    end: tuple[Chapter, ...]


def document(results: Iterable[Result], facts: Facts) -> Document:
    """The report of an experiment; equal input gives an equal document.

    Args:
        results: of the experiment. Tables and figures that no section knows are shown too, in plain lists.
        facts: what was run; `facts.figures` are the pictures to show.

    Raises:
        ValueError: two results are of one figure and one seed.
    """
    report = Report(Cells(results), facts)
    sections = _sections(report, SECTIONS)
    for table in report.cells.tables():
        if table not in SECTIONS:
            sections.append(Chapter(table, tuple(report.rest(table))))
    exhibits = [one for one in EXHIBITS if not _is_timed(one)]
    sources = [f"- {paper.name}: {plain(paper.cite)}." for paper in published().papers.values()]
    return Document(
        title=f"Quartet: experiment `{facts.experiment}`",
        scale=(_who(report), "", f"**Scale:** {scale.sizes(report)}"),
        run=tuple(_run(report)),
        claims=Chapter(CLAIMS, (*chapter.claims(report, exhibits), _elsewhere(), "")),
        findings=Chapter(FINDINGS, tuple(_findings(report, SECTIONS))),
        sections=tuple(sections),
        papers=_papers(report, exhibits),
        end=(
            *_absent(facts),
            Chapter("Scale, and what cannot be concluded", tuple(scale.lines(report))),
            Chapter("Sources of the published figures", tuple(sources)),
        ),
    )


def times(timings: Iterable[Result], facts: Facts) -> Document:
    """The page of times: what differs from run to run, and what the papers say of it.

    Args:
        timings: the rows of the tables of `TIMES`.
        facts: as of the report; `facts.device` names what trained the models in full.

    Raises:
        ValueError: two rows are of one figure and one seed.
    """
    report = Report(Cells(timings), facts)
    exhibits = [one for one in EXHIBITS if _is_timed(one)]
    run = (
        _who(report),
        "",
        "Everything on this page differs from run to run. The results, which do not, are in the report: "
        "[README.md](../README.md), or with pictures [index.html](../index.html). The pictures of the times are in "
        "index.html beside this page.",
        "",
    )
    return Document(
        title=f"Quartet: experiment `{facts.experiment}`, times",
        scale=run[:1],
        run=run,
        claims=Chapter(CLAIMS, tuple(chapter.claims(report, exhibits))),
        findings=Chapter(FINDINGS, tuple(_findings(report, TIMES))),
        sections=tuple(_sections(report, TIMES)),
        papers=_papers(report, exhibits),
        end=(),
    )


def _sections(report: Report, sections: Mapping[str, Section]) -> list[Chapter]:
    """A chapter a section; one that has no figures says so."""
    chapters = []
    for table, section in sections.items():
        ran = bool(report.cells.places(table))
        lines = [*section.body(report), *report.rest(table)] if ran else [absent(section), ""]
        chapters.append(Chapter(section.title, tuple(lines), ran=ran))
    return chapters


def _is_timed(exhibit: Exhibit) -> bool:
    """Whether an exhibit of the papers is of times."""
    return exhibit.section in {section.title for section in TIMES.values()}


def _elsewhere() -> str:
    """Where the times are."""
    places = listing([one.place for one in EXHIBITS if _is_timed(one)])
    return (
        f"How long things take differs from run to run and has a page of its own, with the T-TA paper's {places}: "
        f"[{TIMES_FOLDER}/README.md]({TIMES_FOLDER}/README.md), or with pictures "
        f"[{TIMES_FOLDER}/index.html]({TIMES_FOLDER}/index.html)."
    )


def absent(section: Section) -> str:
    """What stands in the place of a section that has no figures."""
    return f"{ABSENT}{chapter.how_section(section.title)}"


def markdown(results: Iterable[Result], facts: Facts) -> str:
    """The whole README.md of an experiment: see `document`."""
    return readme(document(results, facts))


def readme(whole: Document) -> str:
    """The whole README.md."""
    chapters = (whole.claims, whole.findings, *whole.sections, whole.papers, *whole.end)
    lines = [f"# {whole.title}", "", *whole.run, *(line for one in chapters for line in one.markdown())]
    return "\n".join(lines) + "\n"


def _papers(report: Report, exhibits: Sequence[Exhibit]) -> Chapter:
    """A chapter with a part for each table and figure of the papers."""
    parts = []
    for exhibit in exhibits:
        ran = bool(exhibit.ours(report))
        parts.append(Chapter(chapter.title(exhibit), tuple(chapter.body(report, exhibit)), ran=ran))
    return Chapter("The papers' tables and figures", tuple(chapter.INTRODUCTION), tuple(parts))


def _absent(facts: Facts) -> list[Chapter]:
    """The sets that were not there, and how to get them."""
    if not facts.absent:
        return []
    rows = [[code(one.name), one.kind, plain(one.reason), plain(one.obtain)] for one in facts.absent]
    lines = grid(["set", "kind", "why", "to be had from"], rows)
    return [Chapter("Sets that were not available", tuple(lines))]


def _who(report: Report) -> str:
    """How many models, and how often and on what they were trained."""
    facts = report.facts
    seeds = f"{len(facts.seeds)} seeds ({listing([str(seed) for seed in facts.seeds])})"
    if len(facts.seeds) == 1:
        seeds = f"one seed ({facts.seeds[0]})"
    return f"{len(facts.models)} models, {seeds}, trained on {plain(facts.device)}."


def _run(report: Report) -> list[str]:
    """What was run, in a few sentences."""
    facts = report.facts
    lines = [_who(report)]
    for objective, words in OBJECTIVES.items():
        names = [model.name for model in facts.models if model.objective == objective]
        lines += [f"- {words}: {named(names)}."] if names else []
    aware = [model.name for model in facts.models if model.segment_aware]
    lines += (
        [f"- Of these {named(aware)} also see sentence and paragraph positions (segments)."] if aware else []
    )
    beside = elsewhere.described(report, report.cells.tables())
    if beside:
        lines.append(
            f"- Beside them, trained elsewhere on other text and at another size: {listing(beside)}."
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
    if lists.missing:
        line += (
            f" {count(lists.missing)} utterances have no list and count as empty hypotheses"
            f" (`nbest/{lists.name}/missing.jsonl`)."
        )
    if lists.refused:
        line += (
            f" {count(lists.refused)} malformed entries were left out (`nbest/{lists.name}/refused.jsonl`)."
        )
    return line


def _findings(report: Report, sections: Mapping[str, Section]) -> list[str]:
    """What the sections say, under the rule by which they say it."""
    found = [sentence for section in sections.values() for sentence in section.findings(report)]
    if not found:
        return ["No figure that this report knows how to read was measured.", ""]
    rule = (
        "Written from the figures: [low, high] are 95 % intervals over test items, and a difference is "
        "called shown only where its interval leaves out 0 or the two intervals stay apart."
    )
    return [rule, "", *(f"- {sentence}" for sentence in found), ""]
