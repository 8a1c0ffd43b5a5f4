"""The commands and the paths that README.md and the pages of docs/ name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.imports import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
#: Programs of ours or of what we stand on; lines of a block that begin otherwise are no commands.
PROGRAMS = ("make", "quartet", "dvc", "python", "mlflow")
#: Fences that hold commands: ``console`` after a ``$``, with what they print; ``sh`` line by line.
FENCES = ("console", "sh")
#: Fences that a reader may run, and those that only show something.
RUN, SHOWN = (*FENCES, "python"), ("json", "mermaid", "text", "yaml")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The line before a block that a reader's machine alone cannot run, or not in minutes.
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$", re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        not_run: why no test runs it, by the line before it; empty: one does.
    """

    page: str
    kind: str
    text: str
    not_run: str


def blocks() -> list[Block]:
    """Every fenced block of all pages."""
    found = []
    for path in PAGES:
        page, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            *_, before = text[: fence.start()].rstrip("\n").rsplit("\n", 1)
            mark = NOT_RUN.fullmatch(before)
            found.append(Block(page, fence[1], fence[2], mark[1] if mark else ""))
    return found


@dataclass(frozen=True)
class Command:
    """A command of a page.

    Attributes:
        page: where it stands, for messages.
        words: its arguments, its program first.
        stdin, stdout: files that it reads and writes by ``<`` and ``>``.
        block: it stands in a fenced block, complete; else in a sentence, perhaps as the name of a command alone.
    """

    page: str
    words: tuple[str, ...]
    stdin: str | None = None
    stdout: str | None = None
    block: bool = True
    shown: str = field(default="", compare=False)

    @property
    def whole(self) -> bool:
        """Whether it can be run as it stands: no … and no capitals for what a reader fills in."""
        return not any("..." in word or "…" in word or PLACEHOLDER.fullmatch(word) for word in self.words)


#: What a reader fills in: MODEL, LISTS, FOLDER, test.ac.txt=W.
PLACEHOLDER = re.compile(r"[A-Z][A-Z_]+")


def lines_of(kind: str, block: str) -> Iterator[str]:
    """The commands of a fenced block as single lines."""
    for line in block.replace("\\\n", " ").splitlines():
        if kind == "console":
            if line.startswith("$ "):
                yield line[2:]
        else:
            yield line


def command(page: str, line: str, block: bool) -> Command | None:
    """The command of a line; None where it is none of our programs'."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # prose with an apostrophe, a diagram
        return None
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):  # settings in front: NAME=value make …
        words.pop(0)
    if not words or words[0] not in PROGRAMS:
        return None
    files = {}
    for sign in "<>":
        if sign in words:
            at = words.index(sign)
            files[sign] = words[at + 1]
            del words[at : at + 2]
    return Command(page, tuple(words), files.get("<"), files.get(">"), block, line.strip())


def commands() -> list[Command]:
    """Every command of all pages: of fenced blocks, and of code in sentences; each once."""
    found: dict[Command, None] = {}
    for path in PAGES:
        page, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        blocks = [(kind, text) for kind, text in FENCE.findall(text) if kind in FENCES]
        lines = [(line, True) for kind, block in blocks for line in lines_of(kind, block)]
        lines += [(span, False) for span in SPAN.findall(FENCE.sub("", text)) if " " in span]
        found |= dict.fromkeys(one for line, block in lines if (one := command(page, line, block)))
    return list(found)


def paths() -> Iterator[tuple[str, str]]:
    """(page, path) of every file and folder of the project that a page names in code."""
    top = "|".join(
        ("src", "stages", "pipeline", "presets", "tests", "docs", "data/examples", "reports/sample")
    )
    pattern = re.compile(rf"(?<![\w/.-])((?:{top}|data/nbest/sample-speech)/[\w./*-]*[\w*/])")
    for path in PAGES:
        page, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        names = (name for name in pattern.findall(text) if not re.search(r"NAME|KIND|/TASK/", name))
        yield from ((page, name) for name in dict.fromkeys(names))
