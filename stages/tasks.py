"""tasks: fetch the files of all evaluation sets, check them, and read each set once.

A file that is there, with the content that its entry promises, is not fetched again. A published set that cannot be had
is no error: what evaluates on it leaves it out, and the report says so.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pipeline.fetch import Unavailable, fetch, tree_sha256
from pipeline.layout import MANIFEST, Layout
from pipeline.params import TASK_STAGES, Params, Task
from pipeline.progress import say
from pipeline.run import main
from pipeline.settings import load
from pipeline.stage import stage_run
from pipeline.task_sets import check_roles, file_name, published, read_task
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, atomic_dir, read_json, write_json
from quartet.tasks.sts.data import SimilaritySet
from quartet.tasks.wordsim.data import WordPairs


def tasks() -> None:
    """Put each set into artifacts/<experiment>/tasks/<kind>/<name>, its files under their roles.

    manifest.json beside the kinds says what there is; catalogue.json of each kind, which sets it has.
    """
    params = load()
    layout = Layout(params.experiment)
    with stage_run(params, "tasks"):
        manifests = {name: bring(params, name, task, layout) for name, task in params.tasks.items()}
        for kind in (kind for kinds in TASK_STAGES.values() for kind in kinds):
            members = sorted(name for name, task in params.tasks.items() if task.kind == kind)
            write_json(layout.catalogue(layout.tasks(kind)), members)
        write_json(layout.all_tasks / MANIFEST, manifests)


def bring(params: Params, name: str, task: Task, layout: Layout) -> dict[str, Any]:
    """One set in its folder, or there a manifest that says why it is not available."""
    check_roles(params, name)
    folder = layout.task(task.kind, name)
    try:
        manifest = fetch_and_read(params, name, task, folder)
        say(f"{name}: {counted(manifest['items'])} items of {task.kind}")
    except Unavailable as error:
        form = published(name, task)
        if form is None:
            raise
        manifest = {
            "version": MANIFEST_VERSION,
            "kind": task.kind,
            "available": False,
            "reason": f"{error.place}: {error.reason}",
            "obtain": form.obtain,
        }
        with atomic_dir(folder) as temporary:
            write_json(temporary / MANIFEST, manifest)
        say(f"{name}: not available: {manifest['reason']}; to be had from {form.obtain}")
    return manifest


def fetch_and_read(params: Params, name: str, task: Task, folder: Path) -> dict[str, Any]:
    """The set whole in its folder, with its manifest, or nothing of it."""
    known = read_json(folder / MANIFEST).get("files", {}) if (folder / MANIFEST).is_file() else {}
    with atomic_dir(folder) as temporary:
        files = {}
        for role, source in task.files.items():
            copy = file_name(role, source.source, task.kind)
            if is_kept(source, folder / copy, known.get(role)):
                shutil.copyfile(folder / copy, temporary / copy)
                files[role] = known[role]
            else:
                files[role] = fetch(source, Path(params.data.root), temporary, copy)
        try:
            found = read_task(temporary, name, task)
        except InputError as error:
            raise _at_source(error, temporary, task) from error
        manifest: dict[str, Any] = {
            "version": MANIFEST_VERSION,
            "kind": task.kind,
            "items": items(found),
            "files": files,
        }
        if task.format is not None:
            manifest["format"] = task.format
        write_json(temporary / MANIFEST, manifest)
    return manifest


def is_kept(source: Source, copy: Path, known: dict[str, Any] | None) -> bool:
    """Whether an earlier run brought this very file: only a checksum can promise that."""
    return (
        source.sha256 is not None
        and known is not None
        and known["source"] == source.source
        and copy.is_file()
        and tree_sha256(copy) == source.sha256
    )


def items(found: object) -> int | dict[str, int]:
    """How many examples there are, of each role where there are several."""
    if isinstance(found, SimilaritySet | WordPairs):
        return len(found.gold)
    if isinstance(found, dict):
        return {role: len(examples) for role, examples in found.items()}
    assert isinstance(found, list)
    return len(found)


def counted(items: int | dict[str, int]) -> str:
    """The counts in words."""
    if isinstance(items, int):
        return f"{items:,}"
    return ", ".join(f"{role} {count:,}" for role, count in items.items())


def _at_source(error: InputError, folder: Path, task: Task) -> InputError:
    """The error with the names that the user knows, not those of the copies."""
    place, reason = error.place, error.reason
    for role, source in task.files.items():
        copy = str(folder / file_name(role, source.source, task.kind))
        place, reason = place.replace(copy, source.source), reason.replace(copy, source.source)
    return InputError(place, reason, error.remedy)


if __name__ == "__main__":
    main(tasks)
