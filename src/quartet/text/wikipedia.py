"""A MediaWiki dump (``pages-articles``, .xml or .xml.bz2) as a stream of documents.

The XML is parsed in blocks with expat, one page in memory at a time. Only pages of the main namespace that are no
redirects are read; their mark-up, the larger part of the work, is cleaned by `quartet.text.wikitext`. A page whose
clean-up leaves no prose (a bare list, a disambiguation page) is skipped.
"""

from __future__ import annotations

import bz2
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from quartet.errors import InputError
from quartet.text.documents import Document, documents_of
from quartet.text.wikitext import MEDIA_PREFIXES, paragraphs_of

BLOCK_BYTES = 1 << 20
MAX_PAGE_CHARACTERS = 1 << 25
"""MediaWiki limits a page to 2 MiB; beyond this the file is not a dump (and would fill the memory)."""

REMEDY = "give a pages-articles dump"
MEDIA_NAMESPACES = {"-2", "6", "14"}  # Media, File, Category
MAX_DEPTH = 100
"""Elements in one another; a dump's are five."""
MAX_TOKEN_BYTES = 1 << 24
"""Of a tag or a comment, which expat keeps whole."""


@dataclass
class WikiPage:
    """What is kept of a ``<page>`` while it is read; a repeated element overwrites (the last revision counts)."""

    title: str = ""
    id: str = ""
    ns: str = "0"
    redirect: bool = False
    model: str = "wikitext"
    text: str = ""

    @property
    def is_article(self) -> bool:
        redirect = self.redirect or self.text.lstrip()[:9].lower() == "#redirect"
        return self.ns == "0" and self.model == "wikitext" and not redirect


@dataclass
class _DumpParser:
    """Expat's callbacks: collects finished articles in `pages` and the names of the media namespaces."""

    path: Path
    pages: list[WikiPage] = field(default_factory=list)
    media_prefixes: set[str] = field(default_factory=lambda: set(MEDIA_PREFIXES))
    last_title: str = ""
    _open: list[str] = field(default_factory=list)
    _page: WikiPage = field(default_factory=WikiPage)
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _namespace: str = ""

    def __post_init__(self) -> None:
        self.expat = expat.ParserCreate()
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self._characters
        self.expat.StartDoctypeDeclHandler = self._doctype

    def _doctype(self, *_: object) -> None:
        # Dumps have none, and without one no entity can be declared: no entity bomb, no external file.
        raise InputError(self.path, "has a DOCTYPE, which no MediaWiki dump has", REMEDY)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open and name != "mediawiki":
            raise InputError(self.path, f"its root is <{name}>, not <mediawiki>", REMEDY)
        if name == "page":
            self._page = WikiPage()
        elif name == "redirect":
            self._page.redirect = True
        elif name == "namespace":
            self._namespace = attributes.get("key", "")
        self._open.append(name)
        if len(self._open) > MAX_DEPTH:
            raise InputError(self.path, f"more than {MAX_DEPTH} elements in one another", REMEDY)
        self._text, self._length = [], 0

    def _characters(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_PAGE_CHARACTERS:
            place = f"{self.path} (after {self.last_title!r})"
            raise InputError(place, f"one element is longer than {MAX_PAGE_CHARACTERS:,} characters")
        self._text.append(text)

    def _end(self, name: str) -> None:
        self._open.pop()
        parent = self._open[-1] if self._open else ""
        text = "".join(self._text)
        if (parent, name) in {("page", "title"), ("page", "id"), ("page", "ns")}:
            setattr(self._page, name, text.strip())
        elif (parent, name) in {("revision", "model"), ("revision", "text")}:
            setattr(self._page, name, text)
        elif name == "namespace" and self._namespace in MEDIA_NAMESPACES and text.strip():
            self.media_prefixes.add(text.strip().lower())
        elif name == "page":
            self.last_title = self._page.title
            if self._page.is_article:
                if not self._page.id:
                    raise InputError(self.path, f"the page {self.last_title!r:.80} has no id", REMEDY)
                self.pages.append(self._page)
        self._text, self._length = [], 0


@dataclass(frozen=True, slots=True)
class WikiArticle:
    """A page before its mark-up is cleaned."""

    id: str
    title: str
    wikitext: str
    media_prefixes: frozenset[str]

    @property
    def size(self) -> int:
        """Characters of the mark-up."""
        return len(self.wikitext)

    def make(self) -> Document | None:
        """The page's prose; None where there is none."""
        paragraphs = paragraphs_of(self.wikitext, self.media_prefixes)
        if all(paragraph.heading for paragraph in paragraphs):
            return None
        return Document(self.id, self.title, paragraphs)


def read_wikipedia(path: str | Path) -> Iterator[Document]:
    """Yield the articles of a dump in the file's order, with the page's number as id.

    Raises:
        InputError: the file is absent, no dump, damaged or cut short (it says after which article).
    """
    return documents_of(draft_wikipedia(path))


def draft_wikipedia(path: str | Path) -> Iterator[WikiArticle]:
    """As `read_wikipedia`, but the mark-up is cleaned where a draft is finished."""
    path = Path(path)
    articles = given = 0
    parser = _DumpParser(path)
    try:
        with _open(path) as file:
            while block := file.read1(BLOCK_BYTES):  # `read` would lose what it had before a damaged place
                parser.expat.Parse(block, False)
                given += len(block)
                if given - parser.expat.CurrentByteIndex > MAX_TOKEN_BYTES:
                    raise InputError(
                        path, f"a tag or comment is longer than {MAX_TOKEN_BYTES >> 20} MiB", REMEDY
                    )
                prefixes = frozenset(parser.media_prefixes)
                for page in parser.pages:
                    articles += 1
                    yield WikiArticle(page.id, page.title, page.text, prefixes)
                parser.pages.clear()
            parser.expat.Parse(b"", True)
    except (
        EOFError,
        OSError,
        LookupError,
        expat.ExpatError,
    ) as error:  # LookupError: an encoding of that name
        where = (
            f"after {articles:,} articles (last page: {parser.last_title!r})" if articles else "at its start"
        )
        raise InputError(path, f"damaged or cut short {where} ({error})", "fetch the file again") from error
    if not articles:
        raise InputError(path, "holds no article (namespace 0, no redirect)", REMEDY)


def _open(path: Path) -> io.BufferedReader | bz2.BZ2File:
    """Open a dump for reading; bzip2 is recognised by its first bytes, not by the file's name."""
    try:
        with open(path, "rb") as file:
            compressed = file.read(3) == b"BZh"
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    return bz2.open(path, "rb") if compressed else open(path, "rb")
