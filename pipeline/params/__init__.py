"""params.yaml -> typed settings, complete and consistent, or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pipeline.params.checked import nearest
from pipeline.params.lists import NBestLists
from pipeline.params.loading import load
from pipeline.params.sections import (
    TASK_STAGES,
    Model,
    Ngram,
    Params,
    Task,
    TaskKind,
    Tokenizer,
)
from pipeline.params.source import Source
from pipeline.params.translator import Translator
from quartet.errors import InputError

__all__ = [
    "TASK_STAGES",
    "Model",
    "NBestLists",
    "Ngram",
    "Params",
    "Source",
    "Task",
    "TaskKind",
    "Tokenizer",
    "Translator",
    "entry",
    "load",
]

Entry = TypeVar("Entry")


def entry(entries: Mapping[str, Entry], name: str, section: str) -> Entry:
    """The entry `name` of a map, for a stage that is told its variant on the command line.

    Raises:
        InputError: there is none.
    """
    if name not in entries:
        raise InputError(f"params.yaml: {section}", f"has no entry {name!r}", nearest(name, entries, "name"))
    return entries[name]
