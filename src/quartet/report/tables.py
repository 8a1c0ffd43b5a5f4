"""The report of an experiment: its chapters as lines of Markdown, and the README.

The README is three screens at most: what was run, the papers' claims, the tables that carry them, and pictures.
Everything else stands in the pages that `quartet.report.html` makes of the same chapters. What differs from run to run
is a document of its own (`times`), so that equal results give an equal report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quartet.config.objectives import OBJECTIVES
from quartet.report import findings, headline, scale
from quartet.report.blocks import pairs
from quartet.report.facts import ListFacts, RunFacts
from quartet.report.numbers import count, listing, millions
from quartet.report.papers import chapter
from quartet.report.papers.exhibits import Exhibit, exhibits, ours
from quartet.report.published import published_figures
from quartet.report.run_report import (
    Report,
    anchor,
    code,
    described_pretrained,
    grid,
    named,
    plain,
    pretrained_note,
)
from quartet.report.spec import SectionSpec, TableSpec, sections
from quartet.report.table_renderer import section_body, tables
from quartet.results import Result

CLAIMS = "The papers' claims, and what was found here"
FINDINGS = "What the numbers show"
ABSENT = "This part was not run in this experiment."
#: What is said of them, and where there are none.
RULE = (
    "A difference is of two systems over the same items. It is significant where its 95 % interval leaves out 0. These "
    "are not corrected for the number of comparisons, as those of the claims are."
)
NOTHING_KEPT = "No difference was kept."
#: The folder of the page of times, in that of the report.
TIMES_FOLDER = "times"
#: The pages beside the README: the first, and what is too long for it.
INDEX, MORE = "index.html", "tables.html"
NO_PICTURES: Mapping[str, str] = {}


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
class ReportDocument:
    """The whole report, whatever it is written as.

    Attributes:
        title: of the experiment.
        scale: what was run, in a sentence.
        run: the same in full.
        claims: what the papers claim, and what was found.
        tables: the few tables that carry the claims.
        pictures: those of the first screen, (path, what it shows).
        findings: what the numbers show.
        sections: a chapter a section, and one for each table that no section knows.
        papers: the papers' tables and figures, one by one.
        end: absent sets, scale and sources.
    """

    title: str
    scale: tuple[str, ...]
    run: tuple[str, ...]
    claims: Chapter
    tables: tuple[str, ...]
    pictures: tuple[tuple[str, str], ...]
    findings: Chapter
    sections: tuple[Chapter, ...]
    papers: Chapter
    end: tuple[Chapter, ...]


def document(
    results: Iterable[Result], facts: RunFacts, pictures: Mapping[str, str] = NO_PICTURES
) -> ReportDocument:
    """The report of an experiment; equal input gives an equal document.

    Args:
        results: of the experiment. Tables and figures that no section knows are shown too, in plain lists.
        facts: what was run.
        pictures: where the drawn ones are, by the names that their sections have.

    Raises:
        ValueError: two results are of one figure and one seed.
    """
    report = Report(results, facts)
    shown = [one for one in exhibits() if not _is_timed(one)]
    family = chapter.judged(report, shown)
    known = {name: section for name, section in sections().items() if not section.timed}
    sources = [f"- {paper.name}: {plain(paper.cite)}." for paper in published_figures().papers.values()]
    return ReportDocument(
        title=f"Quartet: experiment `{facts.experiment}`",
        scale=(_who(report),),
        run=tuple(_run(report)),
        claims=Chapter(CLAIMS, (*_headline(report, family), *chapter.claims(family), _elsewhere(), "")),
        tables=tuple(_first_tables(report, known)),
        pictures=_first_pictures(pictures),
        findings=Chapter(FINDINGS, _findings(findings.sentences(report), RULE)),
        sections=tuple(_sections(report, known, pictures)),
        papers=_papers(report, shown),
        end=(
            *_absent(facts),
            Chapter("Scale, and what cannot be concluded", tuple(scale.lines(report))),
            Chapter("Sources of the published figures", tuple(sources)),
        ),
    )


def times(
    timings: Iterable[Result], facts: RunFacts, pictures: Mapping[str, str] = NO_PICTURES
) -> ReportDocument:
    """The page of times: what differs from run to run, and what the papers say of it.

    Args:
        timings: the rows of the tables that are timed.
        facts, pictures: as of the report; `facts.device` names what trained the models in full.

    Raises:
        ValueError: two rows are of one figure and one seed.
    """
    report = Report(timings, facts)
    shown = [one for one in exhibits() if _is_timed(one)]
    known = {name: section for name, section in sections().items() if section.timed}
    found = _sections(report, known, pictures)
    run = (
        _who(report),
        "",
        "Everything on this page differs from run to run. The results, which do not, are in the report: "
        "[README.md](../README.md), or in full [index.html](../index.html). The pictures of the times are in "
        "index.html beside this page.",
        "",
    )
    return ReportDocument(
        title=f"Quartet: experiment `{facts.experiment}`, times",
        scale=run[:1],
        run=run,
        claims=Chapter(CLAIMS, tuple(chapter.claims(chapter.judged(report, shown)))),
        tables=tuple(line for one in found for line in one.markdown(3)),
        pictures=_first_pictures(pictures),
        findings=Chapter(FINDINGS, _findings(findings.times(report))),
        sections=tuple(found),
        papers=_papers(report, shown),
        end=(),
    )


def _headline(report: Report, family: Sequence[chapter.Claim]) -> list[str]:
    return [*(f"- {sentence}" for sentence in headline.of_claims(report, family)), ""]


def _sections(report: Report, known: dict[str, SectionSpec], pictures: Mapping[str, str]) -> list[Chapter]:
    """A chapter a section, one that has no figures saying so, and one for each table that no section knows.

    What no column of any section shows stands at the end of its table's. Differences of two systems are laid out alike.
    """
    bodies = {name: section_body(report, name, section) for name, section in known.items()}
    found = []
    for name, section in known.items():
        drawn = [
            (pictures[key], one) for key, one in section.pictures.items() if key in pictures and not one.first
        ]
        seen = [line for path, one in drawn for line in (f"![{one.shows}]({path})", "")]
        shown = (*bodies[name], *seen, *report.rest(name))
        if shown and not section.timed:
            shown = (*shown, *scale.beside(report, name))
        opening = (section.intro, "", *pretrained_note(report, name)) if shown else (absent(section), "")
        found.append(Chapter(section.title, (*opening, *shown), ran=bool(shown)))
    for table in report.cells.tables():
        if table not in sections() and (lines := [*pairs.of_pairs(report, table), *report.rest(table)]):
            found.append(Chapter(pairs.title(table), (*lines, *scale.beside(report, table))))
    return found


def _first_tables(report: Report, known: dict[str, SectionSpec]) -> list[str]:
    """The first table of the sections that stand in the README, by importance."""
    lines: list[str] = []
    for name, section in sorted(known.items(), key=lambda item: item[1].first):
        parts = [part for part in section.body if section.first and isinstance(part, TableSpec)]
        for found in (table for part in parts for table in tables(report, name, section, part)):
            if found:
                link = f"{INDEX}#{anchor(section.title)}"
                lines += [f"### {section.title}", "", *found]
                lines += [f"All tables of this kind and what they are: [{section.title}]({link}).", ""]
                break
    return lines


def _first_pictures(pictures: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Those of the first screen, by importance."""
    known = {
        name: one for section in sections().values() for name, one in section.pictures.items() if one.first
    }
    ordered = sorted(known.items(), key=lambda item: item[1].first)
    return tuple((pictures[name], one.shows) for name, one in ordered if name in pictures)


def _is_timed(exhibit: Exhibit) -> bool:
    """Whether an exhibit of the papers is of times."""
    return exhibit.section in {section.title for section in sections().values() if section.timed}


def _elsewhere() -> str:
    """Where the times are."""
    places = listing([one.place for one in exhibits() if _is_timed(one)])
    return (
        f"How long things take differs from run to run and has a page of its own, with the T-TA paper's {places}: "
        f"[{TIMES_FOLDER}/README.md]({TIMES_FOLDER}/README.md), or with pictures "
        f"[{TIMES_FOLDER}/index.html]({TIMES_FOLDER}/index.html)."
    )


def absent(section: SectionSpec) -> str:
    """What stands in the place of a section that has no figures."""
    return f"{ABSENT}{chapter.how_section(section.title)}"


def readme(whole: ReportDocument) -> str:
    """The README.md: three screens at most, with links to the pages that have everything."""
    places = listing([f"[{name}]({name})" for name in (INDEX, MORE)])
    lines = [f"# {whole.title}", "", *whole.run]
    lines += [f"Every table, figure and verdict is in {places}, which a browser opens.", ""]
    lines += [line.replace("](#", f"]({INDEX}#") for line in whole.claims.markdown()]
    lines += ["## In figures", "", *whole.tables] if whole.tables else []
    if whole.pictures:
        lines += ["## In pictures", ""]
        lines += [line for path, words in whole.pictures for line in (f"![{words}]({path})", "")]
    lines += ["## Contents of the pages", ""]
    chapters = [one for one in (whole.findings, whole.papers, *whole.sections, *whole.end) if one.ran]
    lines += [f"- [{one.title}]({INDEX}#{anchor(one.title)})" for one in chapters]
    return "\n".join(lines) + "\n"


def _papers(report: Report, shown: Sequence[Exhibit]) -> Chapter:
    """A chapter with a part for each table and figure of the papers."""
    parts = []
    for exhibit in shown:
        ran = bool(ours(report, exhibit))
        parts.append(Chapter(chapter.title(exhibit), tuple(chapter.body(report, exhibit)), ran=ran))
    return Chapter("The papers' tables and figures", tuple(chapter.INTRODUCTION), tuple(parts))


def _absent(facts: RunFacts) -> list[Chapter]:
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
    models = "One model" if len(facts.models) == 1 else f"{len(facts.models)} models"
    kind = (
        f" Kind of processor: {listing([plain(one) for one in facts.processors])}."
        if facts.processors
        else ""
    )
    read = scale.span(report)
    return f"{models}, {seeds}, trained on {plain(facts.device)}.{kind}" + (f" {read}" if read else "")


def _run(report: Report) -> list[str]:
    """What was run, in a few sentences."""
    facts = report.facts
    lines = [_who(report)]
    for objective, known in OBJECTIVES.items():
        names = [model.name for model in facts.models if model.objective == objective]
        lines += [f"- {known.predicts}: {named(names)}."] if names else []
    aware = [model.name for model in facts.models if model.segment_aware]
    if aware:
        sees = "sees" if len(aware) == 1 else "see"
        lines.append(f"- Of these {named(aware)} also {sees} sentence and paragraph positions (segments).")
    beside = described_pretrained(report, report.cells.tables())
    if beside:
        lines.append(
            f"- Beside them, trained elsewhere on other text and at another size, the tokens read not in the card: "
            f"{listing(beside)}."
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
    if lists.bleu:
        line += f" BLEU is sacrebleu's, `{lists.bleu}`."
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


def _findings(found: list[str], rule: str = "") -> tuple[str, ...]:
    """What the rows show, under the rule by which it is said."""
    return (
        *((rule, "") if rule and found else ()),
        *(f"- {sentence}" for sentence in found or [NOTHING_KEPT]),
        "",
    )
