"""docs/fidelity.md names nothing that is not there: every module exists, every switch and its values are allowed."""

from __future__ import annotations

import dataclasses
import json
import re
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from pipeline.params import Params
from quartet.config.model import ModelEntry
from tests.imports import ROOT

DOCUMENT = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
HEADER = ["point", "paper", "released code", "ours", "switch"]
SPAN = re.compile(r"`([^`]+)`")


class Line(NamedTuple):
    """A row of one of the tables."""

    point: str
    paper: str
    released: str
    ours: str
    switch: str


def lines() -> Iterator[Line]:
    """The rows of all tables with the five columns."""
    inside = False
    for line in DOCUMENT.splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        if cells == HEADER:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(line) <= set("|-"):
            yield Line(*cells)


LINES = list(lines())


def field_of(kind: Any, name: str) -> tuple[Any, Any]:
    """The type of a field of a params dataclass (``*``: of a map's entries), and its default where it has one."""
    while typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    if name == "*":
        assert typing.get_origin(kind) is dict, kind
        return typing.get_args(kind)[1], dataclasses.MISSING
    assert dataclasses.is_dataclass(kind), f"{kind} has no keys"
    fields = {field.name: field for field in dataclasses.fields(kind)}
    assert name in fields, f"{name} is no key of {kind.__name__}"
    default = getattr(kind, name, dataclasses.MISSING)
    hint = typing.get_type_hints(kind, include_extras=True)[name]
    return hint, getattr(default, "default", default)


def resolve(key: str) -> tuple[Any, Any]:
    """The type and the default of a dotted key: of a model's entry, or from the top of params.yaml."""
    first, *others = key.split(".")
    sections = {field.name for field in dataclasses.fields(Params)}
    hint, default = field_of(Params if first in sections else ModelEntry, first)
    for name in others:
        hint, default = field_of(hint, name)
    return hint, default


def switches() -> Iterator[tuple[str, list[Any]]]:
    """Each key of the last column with its values."""
    for line in LINES:
        for span in SPAN.findall(line.switch):
            key, _, values = span.partition(": ")
            yield key, [YAML(typ="safe", pure=True).load(value) for value in values.split(" or ")]


def test_every_table_is_read() -> None:
    assert DOCUMENT.count("| point |") == 5
    tables = DOCUMENT.partition("## The papers' numbers")[0]
    lines = sum(line.startswith("| ") for line in tables.splitlines())
    assert len(LINES) == lines - 5 - 5, "but for the headers and the example"
    assert len({(line.point, line.ours) for line in LINES}) == len(LINES)


def test_every_switch_is_a_key_and_takes_its_values() -> None:
    found = list(switches())
    assert len(found) > 90
    for key, values in found:
        hint, default = resolve(key)
        adapter = TypeAdapter(hint)
        read = [adapter.validate_json(json.dumps(value), strict=True) for value in values]
        if len(values) > 1 and default is not dataclasses.MISSING:
            assert read[0] == default, f"{key}: the first value is not the default"


def test_every_line_has_a_switch_or_says_that_there_is_none() -> None:
    for line in LINES:
        words = SPAN.sub("", line.switch).strip(" ,")
        assert words == "" if SPAN.search(line.switch) else words in {"none", "not yet"}, line


def test_every_module_is_there() -> None:
    named = [span for line in LINES for span in SPAN.findall(line.ours) if span.endswith(".py")]
    named += [span for span in SPAN.findall(DOCUMENT) if re.fullmatch(r"tests/\w+\.py", span)]
    assert len(named) > 60
    for path in named:
        home = ROOT if path.startswith(("pipeline/", "stages/", "tests/")) else ROOT / "src" / "quartet"
        assert (home / path).is_file(), path


def test_what_is_here_says_where() -> None:
    """A line that claims something of ours names a module or a switch; one that is empty is "not yet"."""
    for line in LINES:
        assert line.ours or line.switch == "not yet", line
        assert line.switch == "not yet" or SPAN.search(line.ours + line.switch), line
