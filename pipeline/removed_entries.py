"""Outputs of entries that params.yaml no longer has: the stage `settings` sets them apart.

The hash that DVC takes of a folder covers all that is in it. With the leftovers of removed entries dvc.lock would have
hashes that no other clone can find. So they are moved to artifacts/<experiment>/removed, out of the way of the stages
that read whole folders, and back when their entry is there again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pipeline.dvc_yaml import outputs, places
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.stages import KINDS
from pipeline.tracking.progress import say
from quartet.files import TEMPORARY

#: Where outputs lie; one is moved as a whole.
ARTIFACTS = "artifacts/${experiment}/"
#: All sets are one output, but each is set apart by itself.
SETS, WITHIN = "tasks", ("tasks/*", "tasks/*/*")


def expected_outputs(params: Params, layout: Layout) -> set[Path]:
    """Every file and folder below artifacts/<experiment> that is an output for these settings, and each set."""
    made = {layout.base / path for path in outputs(params)}
    sets = {layout.task(task.kind, name) for name, task in params.tasks.items()}
    sets |= {layout.all_tasks / MANIFEST}
    sets |= {layout.catalogue(layout.tasks(kind)) for kind in KINDS}
    return {path for path in made if path.is_relative_to(layout.artifacts)} - {layout.all_tasks} | sets


def moves(params: Params, layout: Layout) -> tuple[dict[Path, Path], dict[Path, Path]]:
    """What `set_apart` moves, and where to: first what comes back, then what no entry makes any more."""
    made = expected_outputs(params, layout)
    apart = {path: layout.removed / path.relative_to(layout.artifacts) for path in made}
    back = {apart[path]: path for path in sorted(made) if apart[path].exists() and not path.exists()}
    away = [path for path in present(layout) if path not in made]
    return back, {path: layout.removed / path.relative_to(layout.artifacts) for path in away}


def set_apart(params: Params, layout: Layout) -> None:
    """Move what no entry makes to `layout.removed`, and back what an entry makes again; say so, with what deletes it.

    What comes back is held against dvc.lock by DVC, as everything is: where it is no longer right, its stage runs.
    """
    back, away = moves(params, layout)
    for path, target in (back | away).items():
        move(path, target)
    for path in away:
        say(f"{path}: no entry of params.yaml makes it any more, moved to {layout.removed}")
    if away:
        say(f"`rm -r {layout.removed}` deletes what entries that were removed had made")


def present(layout: Layout) -> Iterator[Path]:
    """What lies where outputs do."""
    kinds = {layout.tasks(kind) for kind in KINDS}
    for place in (*WITHIN, *places(ARTIFACTS)):
        for path in sorted(layout.artifacts.glob(place)):
            if place != SETS and path not in kinds and not path.name.startswith(TEMPORARY):
                yield path


def move(path: Path, target: Path) -> None:
    """Put a file or folder in the place of another, which is an older one of the same name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    path.replace(target)
