"""Shows that no figure of the reports' old pages is lost in the new ones.

    python -m tests.report.lost_figures COMMIT

Reads index.html (and tables.html and times/ where they are) of every report at the commit and in the working tree. Of
each it takes the entries of all tables with the name of their row, and every number of the text. Prints what the old
pages have and the new ones have not.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

PAGES = ("index.html", "tables.html", "times/index.html", "times/tables.html")
#: A number as a text has it: not the digits within a name.
NUMBER = re.compile(r"(?<![\w.-])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?![\w-])")


class Page(HTMLParser):
    """The entries of a page's tables by (name of the row or column, text), and the text without its pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.entries: set[tuple[str, str]] = set()
        self.words: list[str] = []
        self._heads: list[str] = []
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._hidden = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("svg", "style")
        if tag == "table":
            self._heads = []
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("svg", "style")
        if tag in ("td", "th") and self._cell is not None and self._row is not None:
            self._row.append(" ".join("".join(self._cell).split()))
            self._cell = None
        elif tag == "tr" and self._row:
            if not self._heads:
                self._heads = self._row
            for head, entry in zip(self._heads[1:], self._row[1:], strict=False):
                self.entries |= {(self._row[0], entry), (head, entry)}
            self._row = None

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)
            if self._cell is not None:
                self._cell.append(data)


def numbers(pages: list[Page]) -> set[str]:
    """Every number of the texts, without sign."""
    text = " ".join(word for page in pages for word in page.words)
    return {found.lstrip("+-").rstrip(",") for found in NUMBER.findall(text)}


def compare(old: list[str], new: list[str]) -> tuple[int, list[str], int, list[str]]:
    """How many entries and numbers the old pages have, and those of them that the new ones have not."""
    before, after = [Page(text) for text in old], [Page(text) for text in new]
    there = {entry for page in after for entry in page.entries}
    wanted = {
        (name, entry) for page in before for name, entry in page.entries if NUMBER.search(entry) and name
    }
    # an entry may stand under the name of its row or of its column
    lost = sorted(
        f"{name}: {entry}" for name, entry in wanted - there if not _elsewhere(name, entry, before, there)
    )
    known = numbers(before)
    return len(wanted), lost, len(known), sorted(known - numbers(after))


def _elsewhere(name: str, entry: str, before: list[Page], there: set[tuple[str, str]]) -> bool:
    """Whether the entry has the other of its two names in the new pages."""
    names = {one for page in before for one, text in page.entries if text == entry}
    return any((one, entry) in there for one in names)


def main(commit: str) -> int:
    """Print the comparison of every report."""
    code = 0
    for folder in sorted(path for path in Path("reports").iterdir() if path.is_dir()):
        old = [text for page in PAGES if (text := _at(commit, f"{folder}/{page}"))]
        new = [(folder / page).read_text(encoding="utf-8") for page in PAGES if (folder / page).is_file()]
        entries, lost, count, gone = compare(old, new)
        print(f"{folder}: {entries} entries, {len(lost)} lost; {count} numbers, {len(gone)} lost")
        for one in [*lost, *gone]:
            print(f"    {one}")
        code = code or int(bool(lost or gone))
    return code


def _at(commit: str, path: str) -> str:
    done = subprocess.run(["git", "show", f"{commit}:{path}"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
