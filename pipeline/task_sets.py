"""The evaluation sets of ``tasks:``: which files each kind wants, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.layout import Layout
from pipeline.params import Params, TaskKind
from quartet.errors import InputError
from quartet.evaluation.datasets import (
    LabelledText,
    SimilaritySet,
    WordPairs,
    read_labelled,
    read_lee,
    read_word_pairs,
)

TaskSet = SimilaritySet | WordPairs | list[LabelledText]


@dataclass(frozen=True)
class Kind:
    """A kind of task: the roles of its files, in the order in which `read` takes them."""

    roles: tuple[str, ...]
    read: Callable[..., TaskSet]


KINDS: dict[TaskKind, Kind] = {
    "documents-similarity": Kind(("texts", "similarities"), read_lee),
    "word-similarity": Kind(("pairs",), read_word_pairs),
    "classification": Kind(("texts",), read_labelled),
}


def check_roles(params: Params, name: str) -> None:
    """Raise InputError unless the task's ``files:`` are those that its kind wants."""
    task = params.tasks[name]
    wanted = KINDS[task.kind].roles
    if set(task.files) != set(wanted):
        given = ", ".join(task.files) or "none"
        raise InputError(
            f"params.yaml: tasks.{name}.files", f"{task.kind} wants {', '.join(wanted)}, not {given}"
        )


def read_task(folder: Path, kind: TaskKind) -> TaskSet:
    """A fetched set, from its folder.

    Raises:
        InputError: a file is missing or malformed; it names the file and the line.
    """
    return KINDS[kind].read(*(folder / role for role in KINDS[kind].roles))


def sets_of(kind: TaskKind, params: Params, layout: Layout) -> Iterator[tuple[str, TaskSet]]:
    """Yield (name, set) of every task of a kind, in the order of params.yaml."""
    for name, task in params.tasks.items():
        if task.kind == kind:
            yield name, read_task(layout.task(kind, name), kind)
