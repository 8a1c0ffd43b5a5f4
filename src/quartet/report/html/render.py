"""The report's Markdown as HTML: tables with captions and scopes, headings that links reach, short words explained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from quartet.report.html.glossary import ABBREVIATIONS
from quartet.report.numbers import NONE
from quartet.report.papers.series import OPPOSITE, SHOWN, VERDICTS, WORSE
from quartet.report.run_report import anchor

#: The address of a picture and what it shows -> HTML.
Picture = Callable[[str, str], str]

#: An entry that is a number with all that may stand beside one: its interval, its unit, a second number.
_NUMBER = re.compile(rf"^({NONE}|[<~]? ?[+-]?\d([\d\s,.()\[\]%+±e/-]| to | of | M\b| times)*)$")
_SHORT = re.compile(
    r"(?<![\w-])(" + "|".join(sorted(map(re.escape, ABBREVIATIONS), key=len, reverse=True)) + r")(?![\w-])"
)
_SPACE = re.compile(r" (?!\[)")
#: The class of an entry by the verdict that it begins with.
MARKS = dict.fromkeys(VERDICTS, "open") | {SHOWN: "yes", OPPOSITE: "no", WORSE: "no"}


class HtmlWriter:
    """Renders the parts of one page.

    Args:
        picture: makes the HTML of a picture.
    """

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._parser = MarkdownIt("commonmark", {"html": False}).enable("table")

    def text(self, line: str) -> str:
        """One line without a paragraph around it."""
        return str(self._parser.renderInline(line))

    def html(self, lines: Iterable[str], title: str) -> str:
        """Lines of Markdown as HTML.

        Args:
            lines: of a chapter, without its heading.
            title: of the chapter: the name of tables that have none of their own.
        """
        tokens = self._parser.parse("\n".join(lines))
        rendered = self._with_captions(list(self._with_pictures(tokens)), title)
        return str(self._parser.renderer.render(_explained(rendered), self._parser.options, {}))

    def _with_pictures(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """A paragraph that is a picture becomes a figure; headings get ids."""
        skip = 0
        for place, token in enumerate(tokens):
            if skip:
                skip -= 1
                continue
            following = tokens[place + 1] if place + 1 < len(tokens) else token
            if token.type == "heading_open":
                token.attrSet("id", anchor(following.content))
            children = following.children or []
            if token.type == "paragraph_open" and len(children) == 1 and children[0].type == "image":
                image = children[0]
                yield _raw(self._picture(str(image.attrs["src"]), image.content))
                skip = 2
                continue
            yield token

    def _with_captions(self, tokens: list[Token], title: str) -> list[Token]:
        """The paragraph before a table that ends in a colon becomes its caption."""
        done: list[Token] = []
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type != "table_open":
                done.append(token)
                place += 1
                continue
            end = next(at for at in range(place, len(tokens)) if tokens[at].type == "table_close")
            caption, words = _caption(done, title)
            rows = sum(one.type == "tr_open" for one in tokens[place:end]) - 1
            folded = rows > MOST_ROWS
            done += [_raw(f"<details><summary>{escape(words)} ({rows} rows)</summary>")] * folded
            done += [
                _raw(f'<div class="box" role="region" tabindex="0" aria-label="{escape(words)}">'),
                token,
                *caption,
                *_table(tokens[place + 1 : end]),
                tokens[end],
                _raw("</div>\n"),
                *[_raw("</details>\n")] * folded,
            ]
            place = end + 1
        return done


def _caption(done: list[Token], title: str) -> tuple[list[Token], str]:
    """The tokens of a caption, taken from the end of what is done, and its words."""
    lead = done[-3:]
    if [token.type for token in lead] == ["paragraph_open", "inline", "paragraph_close"]:
        inline = lead[1]
        if inline.content.endswith(":") and len(inline.content) < LONG:
            del done[-3:]
            words = "".join(child.content for child in inline.children or []).rstrip(":")
            last = (inline.children or [])[-1]
            last.content = last.content.removesuffix(":")
            return [_tag("caption", 1), inline, _tag("caption", -1)], words
    name = _tag("caption", 1)
    name.attrSet("class", "hidden")
    inline = Token("text", "", 0, content=title)
    return [name, inline, _tag("caption", -1)], title


#: A table with more rows is folded.
MOST_ROWS = 60
#: Longer lines are paragraphs, whatever they end in.
LONG = 240


def _table(tokens: list[Token]) -> list[Token]:
    """Scopes for the heads, numbers to the right, and the class of a verdict."""
    numeric = _numeric(tokens)
    column, head = 0, True
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            column = 0
        elif token.type == "tbody_open":
            head = False
        elif token.type in ("th_open", "td_open"):
            content = tokens[place + 1].content
            classes = ["number"] if numeric[column] else []
            classes += [mark for start, mark in MARKS.items() if not head and content.startswith(start)][:1]
            if numeric[column] and not head:
                _keep_together(tokens[place + 1])
            token.attrs = {"class": " ".join(classes)} if classes else {}
            if head or column == 0:
                token.attrs["scope"] = "col" if head else "row"
                token.tag = tokens[place + 2].tag = "th"
            column += 1
    return tokens


def _keep_together(entry: Token) -> None:
    """Let a number break before its interval and nowhere else."""
    for child in entry.children or []:
        child.content = _SPACE.sub("\u00a0", child.content)


def _numeric(tokens: list[Token]) -> list[bool]:
    """Of each column, whether all its entries are numbers."""
    found: list[bool] = []
    column, body = 0, False
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            column = 0
        elif token.type == "tbody_open":
            body = True
        elif token.type in ("th_open", "td_open"):
            if not body:
                found.append(True)
            elif not _NUMBER.match(tokens[place + 1].content):
                found[column] = False
            column += 1
    return found


def _explained(tokens: list[Token]) -> list[Token]:
    """Each short word with its meaning where it first stands."""
    seen: set[str] = set()
    for token in tokens:
        if token.children:
            token.children = [part for child in token.children for part in _with_meaning(child, seen)]
    return tokens


def _with_meaning(child: Token, seen: set[str]) -> Iterator[Token]:
    if child.type != "text":
        yield child
        return
    parts = _SHORT.split(child.content)
    for place, part in enumerate(parts):
        if place % 2 and part not in seen:
            seen.add(part)
            meaning = escape(ABBREVIATIONS[part])
            yield Token("html_inline", "", 0, content=f'<abbr title="{meaning}">{escape(part)}</abbr>')
        elif part:
            yield Token("text", "", 0, content=part)


def _tag(name: str, nesting: int) -> Token:
    return Token(f"{name}_{'open' if nesting > 0 else 'close'}", name, nesting)  # type: ignore[arg-type]


def _raw(html: str) -> Token:
    return Token("html_block", "", 0, content=html)
