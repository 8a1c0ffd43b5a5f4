"""Docstrings for the API reference: griffe reads Google's style, and this turns what else we write into that.

======================  =========================================
``:func:`load```        a link of mkdocstrings
``a, b: text``          an argument or attribute each, same text
``>>>``                 a block of code
``#: text``             the docstring of the attribute below
======================  =========================================
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`(~?)([\w.]+)`")
SHARED = re.compile(r"^ {4}(\w+(?:, \w+)+): (.*(?:\n {5,}\S.*)*)", re.MULTILINE)
DOCTEST = re.compile(r"^>>> .*(?:\n\S.*)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_alias_instance(self, *, alias: griffe.Alias, **_: Any) -> None:
        """Let griffe take pydantic's dataclasses for what they are, so that it shows their fields and defaults."""
        if alias.target_path == "pydantic.dataclasses.dataclass":
            alias.target_path = "dataclasses.dataclass"

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None and obj.is_attribute:
            obj.docstring = comment_above(obj)
        if obj.docstring is not None:
            text = ROLE.sub(link, obj.docstring.value)
            text = SHARED.sub(
                lambda found: "\n".join(f"    {name}: {found[2]}" for name in found[1].split(", ")), text
            )
            obj.docstring.value = DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


def link(role: re.Match[str]) -> str:
    """The link that a role stands for; after ``~`` it shows the last part of the name, as in Sphinx."""
    short, name = role.groups()
    return f"[`{name.rpartition('.')[2] if short else name}`][{name}]"


def comment_above(obj: griffe.Object) -> griffe.Docstring | None:
    """The lines of ``#:`` that end above an attribute."""
    found: list[str] = []
    lines = obj.lines_collection[obj.filepath]
    above = (obj.lineno or 1) - 2
    while above >= 0 and lines[above].lstrip().startswith("#: "):
        found.insert(0, lines[above].strip().removeprefix("#: "))
        above -= 1
    return griffe.Docstring("\n".join(found), lineno=above + 2, parent=obj) if found else None
