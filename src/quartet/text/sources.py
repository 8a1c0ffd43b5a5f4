"""The kinds of raw text that can be read. A new kind is a file with a reader, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.text.documents import Document
from quartet.text.plain import read_text
from quartet.text.wikipedia import read_wikipedia
from quartet.text.wikitext_corpus import ENDINGS, read_wikitext

Reader = Callable[[Path], Iterator[Document]]
"""Streams the documents of a file or folder in a fixed order; raises InputError for what it cannot read."""

SOURCES: dict[str, Reader] = {
    "wikipedia": read_wikipedia,
    "text": read_text,
    "wikitext": read_wikitext,
}

TEXT_FILES = (".txt", *ENDINGS)
"""The files of a folder that a reader reads: how their names end."""
