"""Wiki mark-up to plain paragraphs: what is kept, what is dropped, and how the holes are closed.

Kept: running text, the words of links, headings, block quotations, templates that stand for words
(`wikitemplates`), simple inline formulas, and list items that are prose (they end like a sentence), each as a
paragraph of its own.

Dropped: all other templates, references, tables, galleries, files, categories, interlanguage links, code,
preformatted lines, list items that merely name something, paragraphs around a formula that needs typesetting,
reference-like sections (`REFERENCE_SECTIONS`), and headings with nothing left below them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import mwparserfromhell
from mwparserfromhell import nodes

from quartet.text.documents import Paragraph
from quartet.text.wikitemplates import words_of_template

MEDIA_PREFIXES = frozenset({"file", "image", "media", "category"})
"""Link prefixes (lower case) whose links are dropped whole; a dump adds its own language's names for them."""

REFERENCE_SECTIONS = frozenset(
    {
        *("bibliography", "citations", "explanatory notes", "external links", "footnotes", "further reading"),
        *("gallery", "image gallery", "links", "notes", "notes and references", "publications", "references"),
        *("references and notes", "see also", "selected bibliography", "selected publications", "sources"),
        *("works cited",),
    }
)
"""Titles (lower case) of sections that point elsewhere: dropped with the sections below them."""

MIN_WORDS = 8
"""A line that ends like no sentence is a paragraph if it has more words than this; else it is a mere label."""

BRACKET_DEPTH = 4
"""Brackets nested more deeply are left as they are."""

# Marks inside the rendered text. XML 1.0 forbids these characters, and `paragraphs_of` removes them first.
HOLE = "\x01"  # something was removed here
ITEM = "\x02"  # a list item begins here
HEAD = "\x03"  # HEAD, the level as one digit, the heading's text
FORMULA = "\x04"  # a formula that plain text cannot show was here
LITERAL = "\x05"  # a line begins with a blank: MediaWiki shows it as it is, in a box

DROPPED_TAGS = frozenset(
    {
        *("gallery", "graph", "hiero", "imagemap", "includeonly", "mapframe", "pre", "ref", "references"),
        *("score", "section", "source", "style", "syntaxhighlight", "table", "templatestyles", "timeline"),
    }
)
BLOCK_TAGS = frozenset({"blockquote", "br", "center", "div", "hr", "ol", "p", "poem", "ul"})
ITEM_TAGS = frozenset({"dd", "dt", "li"})

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_QUOTES = re.compile(r"'{2,}")
_SWITCHES = re.compile(r"__[A-Z]+__")
_LANGUAGE_LINK = re.compile(r"(?:[a-z]{2,3}|simple)(?:-[a-z]+)*:\S")
_URL = re.compile(r"\[?\b(?:https?|ftp)://\S+")
_SPACE = re.compile(r"\s+")
_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_FILLER = re.compile(rf"(?:{HOLE}|\W|\b(?:or|and|in|from|pronounced|also|lit)\b)*", re.IGNORECASE)
_SPACE_BEFORE = re.compile(r" +([,;:.!?)\]](?: |$))")
_SPACE_AFTER = re.compile(r"([(\[]) +")
# Unicode's Sentence_Terminal of scripts that are in use, and the ellipsis; then what may close behind it. Escaped are
# Armenian, Arabic, Urdu, Devanagari, Burmese, Ethiopic, Khmer, doubled, Chinese and Japanese signs.
_SENTENCE_END = re.compile(
    "[.!?…\u0589\u061f\u06d4\u0964\u0965\u104b\u1362\u1367\u17d4\u17d5\u203c\u203d\u2047-\u2049\u3002\uff01\uff0e\uff1f\uff61]"
    "[\"'”’»)\\]\u3009\u300b\u300d\u300f\u3011\uff09]*$"
)
_LEFTOVER = re.compile(r"\{\{|\}\}|\{\||\|\}|\[\[|\]\]|</?[a-z]+[^<>]*>|^[|!]", re.IGNORECASE)
_SIMPLE_FORMULA = re.compile(r"[\w\s+\-−*/=<>()\[\].,;:|'^…]{1,40}")


class Block(NamedTuple):
    """One line of rendered text: a heading (level 1 to 6) or a paragraph (level 0)."""

    level: int
    text: str


def paragraphs_of(wikitext: str, media_prefixes: Iterable[str] = MEDIA_PREFIXES) -> tuple[Paragraph, ...]:
    """The paragraphs and headings of one page, in reading order.

    >>> paragraphs_of("'''Tea''' ({{IPA-x|ti}}; Chinese) is a [[drink|hot drink]].<ref>A book.</ref>")
    (Paragraph(text='Tea (Chinese) is a hot drink.', heading=False),)
    """
    code = mwparserfromhell.parse(_CONTROL.sub("", wikitext), skip_style_tags=True)
    text = _QUOTES.sub("", _render(code, frozenset(media_prefixes)))
    kept = _without_empty_sections(list(_without_reference_sections(_blocks(text))))
    return tuple(Paragraph(block.text, heading=block.level > 0) for block in kept)


# -- nodes to text with marks ----------------------------------------------------------------------------


def _render(code: mwparserfromhell.wikicode.Wikicode | None, media: frozenset[str]) -> str:
    return "".join(_render_node(node, media) for node in code.nodes) if code is not None else ""


def _render_node(node: nodes.Node, media: frozenset[str]) -> str:
    match node:
        case nodes.Text():
            return str(node.value).replace("\n ", f"\n{LITERAL}")
        case nodes.Wikilink():
            return _render_link(node, media)
        case nodes.Tag():
            return _render_tag(node, media)
        case nodes.Template():
            return _render_template(node, media)
        case nodes.ExternalLink():
            return _render(node.title, media)  # a bare address has no title
        case nodes.HTMLEntity():
            try:
                text = str(node.normalize())
            except (ValueError, OverflowError):  # a number beyond Unicode
                return ""
            # half a character, which no file can hold; a control character, which may be one of our marks
            return "" if "\ud800" <= text <= "\udfff" or _CONTROL.match(text) else text
        case nodes.Heading():
            return f"\n{HEAD}{node.level}{_SPACE.sub(' ', _render(node.title, media)).strip()}\n"
        case _:  # comments and template arguments
            return ""


def _render_template(template: nodes.Template, media: frozenset[str]) -> str:
    name = _SPACE.sub(" ", str(template.name).replace("_", " ")).strip().lower()
    unnamed = (p for p in template.params if not p.showkey or str(p.name).strip().isdigit())
    values = [_render(p.value, media).replace(LITERAL, " ").strip() for p in unnamed]
    words = words_of_template(name, values)
    if template.has("lc"):  # asks for a small first letter, as in {{as of|2014|lc=y}}
        words = words[:1].lower() + words[1:]
    return words or HOLE


def _render_link(link: nodes.Wikilink, media: frozenset[str]) -> str:
    target = str(link.title).strip()
    prefix, colon, _ = target.partition(":")
    if colon and prefix.strip().lower() in media:
        return ""
    if link.text is not None:
        return _render(link.text, media)
    if _LANGUAGE_LINK.match(target):
        return ""
    return _render(link.title, media).removeprefix(":")


def _render_tag(tag: nodes.Tag, media: frozenset[str]) -> str:
    name = str(tag.tag).strip().lower()
    if name in DROPPED_TAGS:
        return ""
    if name in {"math", "ce", "chem"}:
        return _render_formula(str(tag.contents))
    text = _render(tag.contents, media)
    if name in ITEM_TAGS:
        return ITEM if tag.wiki_markup else f"\n{ITEM}{text}\n"
    if name in BLOCK_TAGS:
        return f"\n\n{text}\n\n"
    if name == "sup" and text.strip().lstrip("+-−").isdigit():
        return f"^{text.strip()}"
    return text


def _render_formula(source: str) -> str:
    r"""A formula as plain characters, or FORMULA where that cannot be done.

    >>> _render_formula(r"x_{i} = \alpha")
    'x_i = α'
    """
    text = re.sub(r"~|\\[,;! ]", " ", source)
    text = re.sub(r"\\[lc]?dots[cb]?", "…", text)
    text = re.sub(r"\\([A-Za-z]+)", _greek, text)
    text = re.sub(r"([_^])\{(\w+)\}", r"\1\2", text)
    return text.strip() if _SIMPLE_FORMULA.fullmatch(text) else FORMULA


def _greek(command: re.Match[str]) -> str:
    name = command[1]
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")
    except KeyError:
        return command[0]


# -- text with marks to paragraphs -----------------------------------------------------------------------


def _blocks(text: str) -> Iterator[Block]:
    """Lines to headings and paragraphs; the lines of a paragraph are joined as MediaWiki joins them."""
    joined: list[str] = []
    for line in [*re.sub(f"{ITEM}+", f"\n{ITEM}", text).split("\n"), ""]:
        alone = line[:1] in (HEAD, ITEM, LITERAL) or not line.strip()
        if alone and joined:
            yield from _block(" ".join(joined), item=False)
            joined = []
        if line.startswith(HEAD):
            yield Block(int(line[1]), _tidy(line[2:]))
        elif line.startswith(ITEM):
            yield from _block(line[1:], item=True)
        elif not alone:
            joined.append(line)


def _block(line: str, item: bool) -> Iterator[Block]:
    line = _tidy(line)
    if not re.search(r"\w", line) or FORMULA in line or _LEFTOVER.search(line):
        return
    if _SENTENCE_END.search(line) or (
        not item and (line.endswith((":", "\uff1a")) or line.count(" ") >= MIN_WORDS)
    ):
        yield Block(0, line)


def _tidy(line: str) -> str:
    """Close the holes of a line and collapse its white space."""
    line = _SPACE.sub(" ", _URL.sub("", _SWITCHES.sub("", line)))
    for _ in range(BRACKET_DEPTH):  # inner brackets first
        line = _BRACKETS.sub(_close_brackets, line)
    line = line.replace(HOLE, "")
    line = _SPACE.sub(" ", line)
    line = _SPACE_AFTER.sub(r"\1", _SPACE_BEFORE.sub(r"\1", line))
    return line.strip()


def _close_brackets(match: re.Match[str]) -> str:
    """Drop from a bracket the parts that a removal has emptied; the bracket too, where nothing is left."""
    inside = match[1]
    if not re.search(r"[^\s;,:/–-]", inside.replace(HOLE, "")):
        return ""
    if HOLE not in inside:
        return match[0]
    parts = re.split(r"([;,])", inside)
    marked = zip([";", *parts[1::2]], parts[::2], strict=True)
    text = "".join(mark + part for mark, part in marked if not _emptied(part))[1:].replace(HOLE, "").strip()
    return f"{match[0][0]}{text}{match[0][-1]}" if text else ""


def _emptied(part: str) -> bool:
    return not part.strip() or (HOLE in part and _FILLER.fullmatch(part) is not None)


def _without_reference_sections(blocks: Iterable[Block]) -> Iterator[Block]:
    skipped = 0  # the level of the section being skipped
    for block in blocks:
        if block.level and (not skipped or block.level <= skipped):
            skipped = block.level if block.text.lower().rstrip(":") in REFERENCE_SECTIONS else 0
        if not skipped:
            yield block


def _without_empty_sections(blocks: list[Block]) -> list[Block]:
    """Drop headings that are followed by a heading of the same or a higher rank, or by nothing."""
    kept: list[Block] = []
    next_level = 0  # what follows, seen from the end: a heading's level, 7 for a paragraph, 0 for nothing
    for block in reversed(blocks):
        if block.level and (block.level >= next_level or not block.text):
            continue
        next_level = block.level or 7
        kept.append(block)
    return kept[::-1]
