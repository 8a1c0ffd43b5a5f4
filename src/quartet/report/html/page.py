"""The pages: the chapters of a report, its pictures and a glossary; what is too long for one file in a second."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from quartet.report.html.glossary import ABBREVIATIONS, TERMS
from quartet.report.html.pictures import inline
from quartet.report.html.render import HtmlWriter
from quartet.report.published import published_figures
from quartet.report.run_report import anchor
from quartet.report.tables import INDEX, MORE, Chapter, ReportDocument

#: As many bytes as the first page may have.
MOST = 390_000
_LINK = re.compile(r'(<a [^>]*href=")#([^"]+)"')
_ID = re.compile(r'\bid="([^"]+)"')


@dataclass(frozen=True)
class PagePart:
    """A chapter as HTML, with its place in the page; moved: its body is on the second page."""

    title: str
    place: str
    body: Markup
    parts: tuple[PagePart, ...]
    ran: bool
    moved: bool = False


def pages(document: ReportDocument, folder: Path, most: int = MOST) -> dict[str, str]:
    """The two pages by their names; equal input gives equal texts.

    The first has everything, or, where that is more than `most` bytes, the headings of the longest parts with links to
    the second, which has these parts.

    Args:
        document: the report's chapters.
        folder: where the paths of the pictures start.
        most: the bytes of the first page.

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

    writer = HtmlWriter(picture)
    first = [Markup(picture(path, words)) for path, words in document.pictures]  # noqa: S704  # nosec B704  # escaped
    text = files("quartet.report.html")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(text.joinpath("page.html.j2").read_text(encoding="utf-8"))
    common = {
        "title": _text(writer, document.title),
        "name": document.title.replace("`", ""),
        "style": Markup(text.joinpath("page.css").read_text(encoding="utf-8")),  # noqa: S704  # nosec B704  # ours
        "scale": _html(writer, document.scale, document.title),
        "run": _html(writer, document.run, document.title),
        "claims": _part(writer, document.claims),
        "overview": first,
        "findings": _part(writer, document.findings),
        "exhibits": _by_paper(document.papers),
        "end": [_part(writer, one) for one in document.end],
        "glossary": list(_glossary(writer)),
        "index": INDEX,
        "more": MORE,
    }
    sections = [_part(writer, one) for one in document.sections]
    papers = _part(writer, document.papers)
    whole = template.render(**common, sections=sections, papers=papers, second=False)
    excess, gone = len(whole.encode()) - most, set()
    for part in sorted([*sections, *papers.parts], key=lambda one: -len(one.body)):
        if excess > 0:
            gone.add(part.place)
            excess -= len(part.body.encode()) - 200  # a link stands in its place
    sections = [dataclasses.replace(one, moved=one.place in gone) for one in sections]
    parts = tuple(dataclasses.replace(one, moved=one.place in gone) for one in papers.parts)
    papers = dataclasses.replace(papers, parts=parts)
    made = {
        name: template.render(**common, sections=sections, papers=papers, second=second)
        for name, second in ((INDEX, False), (MORE, True))
    }
    ids = {name: set(_ID.findall(page)) for name, page in made.items()}
    return {
        INDEX: _linked(made[INDEX], ids[INDEX], MORE),
        MORE: _linked(made[MORE], ids[MORE], INDEX),
    }


def _linked(page: str, ids: set[str], other: str) -> str:
    """A page whose links to what it has not lead to the other one."""
    return _LINK.sub(lambda link: link[0] if link[2] in ids else f'{link[1]}{other}#{link[2]}"', page)


def _part(writer: HtmlWriter, chapter: Chapter) -> PagePart:
    return PagePart(
        chapter.title,
        anchor(chapter.title),
        _html(writer, chapter.lines, chapter.title),
        tuple(_part(writer, part) for part in chapter.parts),
        chapter.ran,
    )


def _by_paper(papers: Chapter) -> dict[str, list[tuple[str, str, str, bool]]]:
    """For the contents: by paper, the (place, rest of the title, address, whether it ran) of each exhibit."""
    found: dict[str, list[tuple[str, str, str, bool]]] = {
        one.name: [] for one in published_figures().papers.values()
    }
    for part in papers.parts:
        paper, _, rest = part.title.partition(", ")
        place, _, title = rest.partition(": ")
        found[paper].append((place, title, anchor(part.title), part.ran))
    return {paper: places for paper, places in found.items() if places}


def _glossary(writer: HtmlWriter) -> Iterator[tuple[str, Markup]]:
    for word, meaning in sorted({**ABBREVIATIONS, **TERMS}.items(), key=lambda item: item[0].lower()):
        yield word, _text(writer, meaning)


def _html(writer: HtmlWriter, lines: Iterable[str], title: str) -> Markup:
    """What the writer made: it has escaped what came from outside."""
    return Markup(writer.html(lines, title))  # noqa: S704  # nosec B704


def _text(writer: HtmlWriter, line: str) -> Markup:
    return Markup(writer.text(line))  # noqa: S704  # nosec B704
