"""tasks: fetch the files of all evaluation sets, check them, and read each set once.

A file that is there, with the content that its entry promises, is not fetched again. A published set that cannot be had
is no error: what evaluates on it leaves it out, and the report says so.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pipeline.fetch import UnavailableSource, fetch, tree_sha256
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params, TaskEntry
from pipeline.run import main
from pipeline.settings import load
from pipeline.task_sets import file_name, passed_over, published_format, read_task
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, atomic_dir, read_json, write_json
from quartet.tasks.kinds import KINDS
from quartet.tasks.sts.data import SimilaritySet
from quartet.tasks.wordsim.data import WordPairs


def tasks() -> None:
    """Put each set into artifacts/<experiment>/tasks/<kind>/<name>, its files under their roles.

    manifest.json beside the kinds says what there is; catalogue.json of each kind, which sets it has.

    Raises:
        InputError: a set is malformed; or one that is no published one cannot be had, after all others were brought.
    """
    params = load()
    layout = Layout(params.experiment)
    with stage_run(params, "tasks"):
        manifests: dict[str, Any] = {}
        missing: list[UnavailableSource] = []
        for name, task in params.tasks.items():
            try:
                manifests[name] = bring(params, name, task, layout)
            except UnavailableSource as error:
                missing.append(error)
        if missing:
            raise missing[0]
        for kind in KINDS:
            members = sorted(name for name, task in params.tasks.items() if task.kind == kind)
            write_json(layout.catalogue(layout.tasks(kind)), members)
        write_json(layout.all_tasks / MANIFEST, manifests)


def bring(params: Params, name: str, task: TaskEntry, layout: Layout) -> dict[str, Any]:
    """One set whole in its folder; of a published set that cannot be had what there is of it, and why.

    Raises:
        Unavailable: a set that is no published one cannot be had; its folder is what it was.
    """
    form, folder = published_format(name, task, KINDS[task.kind]), layout.task(task.kind, name)
    manifest: dict[str, Any] = {"version": MANIFEST_VERSION, "kind": task.kind}
    with atomic_dir(folder) as temporary:
        manifest["files"], missing = gather(Path(params.data.root), task, folder, temporary)
        if missing is None:
            try:
                manifest["items"] = items(read_task(temporary, name, task, KINDS[task.kind]))
            except InputError as error:
                raise _at_source(error, temporary, task) from error
            if task.format is not None:
                manifest["format"] = task.format
        elif form is None:
            raise missing
        else:
            manifest |= {
                "available": False,
                "reason": f"{missing.place}: {missing.reason}",
                "obtain": form.obtain,
            }
        write_json(temporary / MANIFEST, manifest)
    if missing is None:
        say(f"{name}: {counted(manifest['items'])} items of {task.kind}")
        if passed := passed_over(folder, name, task, KINDS[task.kind]):
            say(
                f"{name}: {passed:,} more are passed over, because nobody judged them or their lines are broken"
            )
    else:
        say(f"{name}: not available: {manifest['reason']}; to be had from {manifest['obtain']}")
    return manifest


def gather(
    root: Path, task: TaskEntry, folder: Path, target: Path
) -> tuple[dict[str, dict[str, Any]], UnavailableSource | None]:
    """Put a set's files into `target`: those of `folder` that are still right, and what is fetched.

    A file that has no checksum is fetched again, since only a checksum promises that it is still what its source holds;
    where it cannot be had any more, the file that was fetched from there before is kept.

    Returns:
        by role what the manifest says of the file; and the first that could not be had.
    """
    files: dict[str, dict[str, Any]] = {}
    missing: UnavailableSource | None = None
    known = known_files(folder)
    for role, source in task.files.items():
        copy = file_name(role, source.source, KINDS[task.kind])
        old = known.get(role, {})
        intact = (
            old.get("source") == source.source
            and (folder / copy).exists()
            and old.get("sha256") == (source.sha256 or old.get("sha256")) == tree_sha256(folder / copy)
        )
        try:
            if intact and source.sha256 is not None:
                files[role] = _kept(folder / copy, target / copy, old)
            else:
                files[role] = fetch(source, root, target, copy)
        except UnavailableSource as error:
            if intact:
                say(f"{source.source}: {error.reason}; the copy that was fetched before is used")
                files[role] = _kept(folder / copy, target / copy, old)
            else:
                missing = missing or error
    return files, missing


def known_files(folder: Path) -> dict[str, dict[str, Any]]:
    """What the manifest of a set says of its files; nothing where there is none, or a damaged one."""
    try:
        files = read_json(folder / MANIFEST)["files"]
        return {role: one for role, one in files.items() if isinstance(one, dict)}
    except (InputError, TypeError, KeyError, AttributeError):
        return {}


def _kept(copy: Path, target: Path, known: dict[str, Any]) -> dict[str, Any]:
    if copy.is_dir():
        shutil.copytree(copy, target)
    else:
        shutil.copyfile(copy, target)
    return known


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


def _at_source(error: InputError, folder: Path, task: TaskEntry) -> InputError:
    """The error with the names that the user knows, not those of the copies."""
    place, reason = error.place, error.reason
    for role, source in task.files.items():
        copy = str(folder / file_name(role, source.source, KINDS[task.kind]))
        place, reason = place.replace(copy, source.source), reason.replace(copy, source.source)
    return InputError(place, reason, error.remedy)


if __name__ == "__main__":
    main(tasks)
