"""tasks@<set>: fetch the files of an evaluation set, check them, and read them once.

A published set that cannot be had is no error: what evaluates on it leaves it out, and the report says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.fetch import Unavailable, fetch
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params, Task, entry
from pipeline.progress import say
from pipeline.run import main
from pipeline.settings import load
from pipeline.stage import stage_run
from pipeline.task_sets import check_roles, file_name, published, read_task
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, atomic_dir, write_json
from quartet.tasks.sts.data import SimilaritySet
from quartet.tasks.wordsim.data import WordPairs


def tasks(name: str) -> None:
    """Put the files of the set `name`, each under its role, into artifacts/<experiment>/tasks/<kind>/<name>."""
    params = load()
    task = entry(params.tasks, name, "tasks")
    check_roles(params, name)
    folder = Layout(params.experiment).task(task.kind, name)
    with stage_run(params, "tasks", name):
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


def fetch_and_read(params: Params, name: str, task: Task, folder: Path) -> dict[str, Any]:
    """The set whole in its folder, with its manifest, or nothing of it."""
    with atomic_dir(folder) as temporary:
        files = {
            role: fetch(source, Path(params.data.root), temporary, file_name(role, source.source, task.kind))
            for role, source in task.files.items()
        }
        try:
            found = read_task(temporary, name, task)
        except InputError as error:
            raise _at_source(error, temporary, task) from error
        manifest = {
            "version": MANIFEST_VERSION,
            "kind": task.kind,
            "license": task.license,
            "items": items(found),
            "files": files,
        }
        if task.format is not None:
            manifest["format"] = task.format
        write_json(temporary / MANIFEST, manifest)
    return manifest


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
