"""The page itself: the chapters of a report, its pictures and a glossary, in one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from quartet.report.facts import Facts
from quartet.report.html.glossary import ABBREVIATIONS, TERMS
from quartet.report.html.pictures import inline
from quartet.report.html.render import Writer
from quartet.report.overview import PICTURES
from quartet.report.page import anchor
from quartet.report.published import published
from quartet.report.tables import Chapter, Document


@dataclass(frozen=True)
class Part:
    """A chapter as HTML, with its place in the page."""

    title: str
    place: str
    body: Markup
    parts: tuple[Part, ...]
    ran: bool


def page(document: Document, folder: Path, facts: Facts) -> str:
    """The whole index.html; equal input gives an equal text.

    Args:
        document: the report's chapters.
        folder: where the paths of the pictures start.
        facts: `facts.figures` are the pictures by their keys; those of the first screen are `overview.PICTURES`.

    Raises:
        OSError: a picture is absent.
    """
    shown: dict[str, str] = {}

    def picture(path: str, words: str) -> str:
        """A figure; where it stands already, a link to it."""
        if path in shown:
            return f'<p><a href="#{shown[path]}">The picture: {escape(words)}</a></p>\n'
        shown[path] = f"figure-{Path(path).stem}"
        drawn = inline(folder / path, shown[path], words)
        return f'<figure id="{shown[path]}">{drawn}<figcaption>{escape(words)}</figcaption></figure>\n'

    writer = Writer(picture)
    first = [picture(facts.figures[key], words) for key, words in PICTURES.items() if key in facts.figures]
    text = files("quartet.report.html")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(text.joinpath("page.html.j2").read_text(encoding="utf-8"))
    return template.render(
        title=_text(writer, document.title),
        name=document.title.replace("`", ""),
        style=Markup(text.joinpath("page.css").read_text(encoding="utf-8")),  # noqa: S704  # nosec B704  # ours
        scale=_html(writer, document.scale, document.title),
        run=_html(writer, document.run, document.title),
        claims=_part(writer, document.claims),
        overview=[Markup(figure) for figure in first],  # noqa: S704  # nosec B704  # escaped already
        findings=_part(writer, document.findings),
        papers=_part(writer, document.papers),
        exhibits=_by_paper(document.papers),
        sections=[_part(writer, one) for one in document.sections],
        end=[_part(writer, one) for one in document.end],
        glossary=list(_glossary(writer)),
    )


def _part(writer: Writer, chapter: Chapter) -> Part:
    return Part(
        chapter.title,
        anchor(chapter.title),
        _html(writer, chapter.lines, chapter.title),
        tuple(_part(writer, part) for part in chapter.parts),
        chapter.ran,
    )


def _by_paper(papers: Chapter) -> dict[str, list[tuple[str, str, str, bool]]]:
    """For the contents: by paper, the (place, rest of the title, address, whether it ran) of each exhibit."""
    found: dict[str, list[tuple[str, str, str, bool]]] = {one.name: [] for one in published().papers.values()}
    for part in papers.parts:
        paper, _, rest = part.title.partition(", ")
        place, _, title = rest.partition(": ")
        found[paper].append((place, title, anchor(part.title), part.ran))
    return {paper: places for paper, places in found.items() if places}


def _glossary(writer: Writer) -> Iterator[tuple[str, Markup]]:
    for word, meaning in sorted({**ABBREVIATIONS, **TERMS}.items(), key=lambda item: item[0].lower()):
        yield word, _text(writer, meaning)


def _html(writer: Writer, lines: Iterable[str], title: str) -> Markup:
    """What the writer made: it has escaped what came from outside."""
    return Markup(writer.html(lines, title))  # noqa: S704  # nosec B704


def _text(writer: Writer, line: str) -> Markup:
    return Markup(writer.text(line))  # noqa: S704  # nosec B704
