"""The evaluation sets of ``tasks:``: which files each kind wants, how they are read, and which are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.fetch import tree_sha256
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params, TaskEntry
from pipeline.tracking.progress import say
from quartet.errors import InputError, nearest
from quartet.files import read_json
from quartet.tasks.set_files import SetFormat, SetKind

#: A set as its evaluation takes it: what the kind's reader gives, or the examples of each role by the role's name.
TaskSet = Any


def published_format(name: str, task: TaskEntry, kind: SetKind) -> SetFormat[Any] | None:
    """The format of a published set; None for the kinds that have but one.

    Raises:
        InputError: the kind has formats and the entry names none of them, or it has none and the entry names one.
    """
    place = f"params.yaml: tasks.{name}.format"
    formats = kind.formats
    if not formats:
        if task.format is not None:
            raise InputError(place, f"means nothing for kind {task.kind}", "take it out")
        return None
    if task.format is None and len(formats) == 1:
        return next(iter(formats.values()))
    if task.format is None or task.format not in formats:
        raise InputError(
            place,
            f"kind {task.kind} has no format {task.format}",
            nearest(task.format or "", formats, "format"),
        )
    return formats[task.format]


def check_roles(name: str, task: TaskEntry, kind: SetKind) -> None:
    """Raise InputError unless the task's ``files:`` are those that its kind and format want."""
    form = published_format(name, task, kind)
    place = f"params.yaml: tasks.{name}.files"
    given = ", ".join(task.files) or "none"
    if form is None:
        if set(task.files) != set(kind.roles):
            raise InputError(place, f"{task.kind} wants {', '.join(kind.roles)}, not {given}")
    elif not task.files or (form.splits and not set(task.files) <= set(form.splits)):
        raise InputError(
            place, f"of {', '.join(form.splits) or 'its parts'} it takes one or more, not {given}"
        )
    for role, source in task.files.items():
        if file_name(role, source.source, kind) == MANIFEST:
            raise InputError(f"{place}.{role}", f"would be {MANIFEST}, which says what there is", "rename it")


def changed_kinds(before: Mapping[str, Any], after: Mapping[str, Any], root: Path, folder: Path) -> set[str]:
    """The kinds whose folder the stage `tasks` may make another, by the section ``tasks`` of two runs.

    What has no checksum is held against the file that it was copied from. The licence is in no file.

    Args:
        root: where relative sources start.
        folder: of all sets.
    """

    def brought(tasks: Mapping[str, Any], kind: str) -> dict[str, Any]:
        return {name: {**one, "license": ""} for name, one in tasks.items() if one["kind"] == kind}

    kinds = {one["kind"] for one in (*before.values(), *after.values())}
    changed = {kind for kind in kinds if brought(before, kind) != brought(after, kind)}
    for name, one in after.items():
        manifest = folder / one["kind"] / name / MANIFEST
        known = read_json(manifest).get("files", {}) if manifest.is_file() else {}
        for role, file in one["files"].items():
            path, had = root / file["source"], known.get(role, {}).get("sha256")
            missed = had is None and "://" in file["source"]  # it may be had now
            if file["sha256"] is None and (missed or (path.exists() and tree_sha256(path) != had)):
                changed.add(one["kind"])
    return changed


def file_name(role: str, source: str, kind: SetKind) -> str:
    """What the file of a role is called here: readers of published sets tell forms apart by their endings."""
    endings = Path(source).suffixes
    if not kind.formats or not endings:
        return role
    return role + "".join(endings[-2:] if endings[-1] == ".gz" else endings[-1:])


def read_task(folder: Path, name: str, task: TaskEntry, kind: SetKind) -> TaskSet:
    """A fetched set, from its folder.

    Raises:
        InputError: a file is missing or malformed; it names the file and the line.
    """
    form = published_format(name, task, kind)
    if form is None:
        assert kind.read is not None
        return kind.read(*(folder / role for role in kind.roles))
    return {
        role: list(form.read(folder / file_name(role, source.source, kind)))
        for role, source in task.files.items()
    }


def passed_over(folder: Path, name: str, task: TaskEntry, kind: SetKind) -> int:
    """How many examples of a fetched set :func:`read_task` leaves out."""
    form = published_format(name, task, kind)
    if form is None or form.passed_over is None:
        return 0
    files = (folder / file_name(role, source.source, kind) for role, source in task.files.items())
    return sum(map(form.passed_over, files))


def sets_of(kind: SetKind, params: Params, layout: Layout) -> Iterator[tuple[str, TaskSet]]:
    """Yield (name, set) of every task of a kind that is there, in the order of params.yaml.

    A set that could not be had is passed over with a line; the report says how to get it.
    """
    for name, task in params.tasks.items():
        if task.kind != kind.name:
            continue
        folder = layout.task(kind.name, name)
        if missing := unavailable(folder):
            say(f"{name}: not available: {missing}")
        else:
            yield name, read_task(folder, name, task, kind)


def published_sets(kind: SetKind, params: Params, layout: Layout) -> Iterator[tuple[str, str, TaskSet]]:
    """Yield (name, format, examples by role) of every published set of a kind that is there."""
    for name, examples in sets_of(kind, params, layout):
        form = params.tasks[name].format or next(iter(kind.formats))  # read_task has checked it
        yield name, form, examples


def unavailable(folder: Path) -> str:
    """Why a set is not there, and where it is to be had; empty for a set that is."""
    manifest = read_json(folder / MANIFEST)
    return (
        ""
        if manifest.get("available", True)
        else f"{manifest['reason']}; to be had from {manifest['obtain']}"
    )
