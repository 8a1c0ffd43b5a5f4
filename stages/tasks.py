"""tasks@<set>: fetch the files of an evaluation set, check them, and read them once."""

from __future__ import annotations

from pathlib import Path

from pipeline.fetch import fetch
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Task, entry, load
from pipeline.progress import say
from pipeline.run import main
from pipeline.task_sets import KINDS, check_roles, read_task
from pipeline.tracking import stage_run
from quartet.errors import InputError
from quartet.evaluation.datasets import SimilaritySet, WordPairs
from quartet.files import atomic_dir, write_json


def tasks(name: str) -> None:
    """Put the files of the set `name`, each under its role, into artifacts/<experiment>/tasks/<kind>/<name>."""
    params = load()
    task = entry(params.tasks, name, "tasks")
    check_roles(params, name)
    folder = Layout(params.experiment).task(task.kind, name)
    with stage_run(params, "tasks", name) as run:
        with atomic_dir(folder) as temporary:
            files = {
                role: fetch(task.files[role], Path(params.data.root), temporary, role)
                for role in KINDS[task.kind].roles
            }
            try:
                found = read_task(temporary, task.kind)
            except InputError as error:
                raise _at_source(error, temporary, task) from error
            items = len(found.gold) if isinstance(found, SimilaritySet | WordPairs) else len(found)
            manifest = {"kind": task.kind, "license": task.license, "items": items, "files": files}
            write_json(temporary / MANIFEST, manifest)
        run.log_manifest(manifest)
        say(f"{name}: {items:,} items of {task.kind} -> {folder}")


def _at_source(error: InputError, folder: Path, task: Task) -> InputError:
    """The error with the names that the user knows, not those of the copies."""
    place, reason = error.place, error.reason
    for role, source in task.files.items():
        place = place.replace(str(folder / role), source.source)
        reason = reason.replace(str(folder / role), source.source)
    return InputError(place, reason, error.remedy)


if __name__ == "__main__":
    main(tasks)
