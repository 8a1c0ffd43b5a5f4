"""The WikiText corpora (Merity et al. 2017) as documents: WikiText-2 and WikiText-103, ``.tokens`` or ``.raw``.

Their text is tokenised: words, punctuation and ``<unk>`` stand between blanks, and a hyphen, comma or point inside a
word is ``@-@``, ``@,@`` or ``@.@``. It stays as it is; a tokenizer of the kind ``whitespace`` reads it back. The
mark-up of Wikipedia's dumps, another thing, is cleaned by `quartet.text.wikitext`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from quartet.errors import InputError
from quartet.text.documents import Document, Paragraph
from quartet.text.plain import lines_of
from quartet.text.split import SPLITS

ENDINGS = (".tokens", ".raw")
"""Of the files' names; a folder has one kind."""

_REMEDY = "give the folder of wiki.train.tokens, wiki.valid.tokens and wiki.test.tokens (or .raw)"

_HEADING = re.compile(r"(=(?: =)*) (?!= )(.+)(?<! =) \1")


def read_wikitext(path: str | Path) -> Iterator[Document]:
    """Yield the articles of a WikiText folder: those of ``wiki.train.tokens``, then of valid and test.

    Every line that is not blank is a paragraph. A line ``= Title =`` between blank lines opens an article, and
    ``= = Heading = =`` (or more) between blank lines is a heading. Both are paragraphs of their own, marked as
    headings, and keep their signs, which are words of the corpus. (Lines that begin and end with ``=`` elsewhere come
    from formulas and legends.) The n-th article of a split has the id ``<split>/<n>``.

    Raises:
        InputError: a file is absent, is not UTF-8, has no article or has text before the first; or the folder has
            files of both endings.
    """
    path = Path(path)
    if not path.is_dir():
        raise InputError(path, "no such folder", _REMEDY)
    files = {ending: [path / f"wiki.{split}{ending}" for split in SPLITS] for ending in ENDINGS}
    found = [ending for ending, names in files.items() if any(name.is_file() for name in names)]
    if len(found) != 1:
        reason = "holds .tokens and .raw files" if found else "holds no WikiText"
        raise InputError(path, reason, "keep one kind" if found else _REMEDY)
    for split, file in zip(SPLITS, files[found[0]], strict=True):
        if not file.is_file():
            raise InputError(file, "no such file", _REMEDY)
        yield from articles(lines_of(file), split, file)


def articles(lines: Iterable[str], split: str, source: str | Path) -> Iterator[Document]:
    """The articles in the lines of a split; see `read_wikitext`.

    Args:
        source: of the lines, for what is said of a mistake.

    Raises:
        InputError: there is no article, or text before the first.
    """
    number = 0
    title = ""
    paragraphs: list[Paragraph] = []
    for line, text, alone in _paragraphs(lines):
        heading = _HEADING.fullmatch(text) if alone else None
        if heading and heading[1] == "=":
            if number:
                yield Document(f"{split}/{number}", title, tuple(paragraphs))
            number, title, paragraphs = number + 1, heading[2], []
        elif not number:
            raise InputError(
                f"{source}:{line}", "text before the first title", "a line = Title = opens an article"
            )
        paragraphs.append(Paragraph(text, heading=heading is not None))
    if not number:
        raise InputError(source, "holds no article", "a line = Title = opens one")
    yield Document(f"{split}/{number}", title, tuple(paragraphs))


def _paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str, bool]]:
    """Each line that is not blank: its number, its words, and whether the lines before and after it are blank."""
    before = text = ""
    for number, line in enumerate(chain(lines, [""])):
        after = " ".join(line.split())
        if text:
            yield number, text, not before and not after
        before, text = text, after
