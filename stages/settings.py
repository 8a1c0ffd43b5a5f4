"""settings: check the whole of params.yaml, fill in the defaults, and write what every other stage reads.

It is the first stage of a run after an edit, so it also sets the outputs of removed entries apart. It writes down which
lists and models there are, too: what reads a whole folder notices then that one comes or goes, and finds the folder
even where params.yaml names none.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pipeline.dvc_yaml import outputs, places
from pipeline.early_checks import check_device, check_files
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.run import InputSnapshot, main
from pipeline.settings import PARAMS, read_params, write
from pipeline.stages import KINDS
from pipeline.tracking.progress import say
from pipeline.tracking.stage import same_code
from quartet.files import TEMPORARY, write_json


def settings() -> None:
    """Write artifacts/settings.json, and catalogue.json into the folders that other stages read as a whole."""
    inputs = InputSnapshot([PARAMS])
    with same_code("settings"):
        params = read_params(PARAMS)
        check_device(params, str(PARAMS))
        check_files(params, str(PARAMS))
        write(params)
        layout = Layout(params.experiment)
        set_apart(params, layout)
        names = {
            layout.all_nbest: sorted(params.nbest),
            layout.all_rescored: sorted(params.evaluate["rerank"]),
            layout.all_attention: sorted(params.evaluate["attention"]),
            layout.all_runtime_inputs: sorted(params.runtime.models),
        }
        for folder, members in names.items():
            write_json(layout.catalogue(folder), members)
        inputs.check()


# ---------------------------------------------------------------------- outputs of removed entries
#
# What a folder holds is in the hash that DVC takes of it. With the leftovers of removed entries dvc.lock would have
# hashes that no other clone can find. So they are moved to artifacts/<experiment>/removed, out of the way of the stages
# that read whole folders, and back when their entry is there again.

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


def set_apart(params: Params, layout: Layout) -> None:
    """Move what no entry makes to `layout.removed`, and back what an entry makes again; say so, with what deletes it.

    What comes back is held against dvc.lock by DVC, as everything is: where it is no longer right, its stage runs.
    """
    made = expected_outputs(params, layout)
    for path in sorted(made):
        kept = layout.removed / path.relative_to(layout.artifacts)
        if kept.exists() and not path.exists():
            move(kept, path)
    moved = [path for path in present(layout) if path not in made]
    for path in moved:
        move(path, layout.removed / path.relative_to(layout.artifacts))
    for path in moved:
        say(f"{path}: no entry of params.yaml makes it any more, moved to {layout.removed}")
    if moved:
        say(deleting(layout))


def present(layout: Layout) -> Iterator[Path]:
    """What lies where outputs do."""
    kinds = {layout.tasks(kind) for kind in KINDS}
    for place in (*WITHIN, *places(ARTIFACTS)):
        for path in sorted(layout.artifacts.glob(place)):
            if place != SETS and path not in kinds and not path.name.startswith(TEMPORARY):
                yield path


def deleting(layout: Layout) -> str:
    """What deletes all that was set apart, in words."""
    return f"`rm -r {layout.removed}` deletes what entries that were removed had made"


def move(path: Path, target: Path) -> None:
    """Put a file or folder in the place of another, which is an older one of the same name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    path.replace(target)


if __name__ == "__main__":
    main(settings)
