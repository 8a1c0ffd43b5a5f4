"""The kinds of raw text that can be read. A new kind is a file with a reader, and a line here.

`hub.HubReader` is one more reader: it needs settings, so it is no line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.text import plain, wikitext_corpus
from quartet.text.documents import Draft
from quartet.text.plain import draft_lines, draft_sentences, draft_text
from quartet.text.wikipedia import draft_wikipedia
from quartet.text.wikitext_corpus import read_wikitext

Reader = Callable[[Path], Iterator[Draft]]
"""Streams the drafts of a file or folder in a fixed order; raises InputError for what it cannot read."""

SOURCES: dict[str, Reader] = {
    "wikipedia": draft_wikipedia,
    "text": draft_text,
    "lines": draft_lines,
    "sentences": draft_sentences,
    "wikitext": read_wikitext,
}

FILES: dict[Reader, tuple[str, ...]] = {draft_text: plain.ENDINGS, read_wikitext: wikitext_corpus.ENDINGS}
"""How the names of the files end that a reader reads of a folder; of a reader that is not here all files count."""
