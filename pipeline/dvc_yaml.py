"""dvc.yaml, as code reads it: the instances of a stage, the settings that each depends on, and what it makes.

DVC resolves the templates itself; here is the little of it that the settings, MLflow and the report need, without
DVC's seconds of start. tests/test_dvc_yaml.py compares the two.
"""

from __future__ import annotations

import functools
import itertools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pipeline.evaluations import KINDS
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.tracking.progress import say
from quartet.files import TEMPORARY

DVC_YAML = Path(__file__).resolve().parents[1] / "dvc.yaml"
SETTINGS = "artifacts/settings.json"
#: ``${experiment}``, ``${evaluate.rerank}``, ``${item.corpus}``.
TEMPLATE = re.compile(r"\$\{([\w.-]+)\}")
#: What stands for the variant itself.
VARIANT = ("key", "item")


@functools.cache
def definitions() -> dict[str, dict[str, Any]]:
    """Every stage by its name, in the order of the file."""
    stages = YAML(typ="safe").load(DVC_YAML)["stages"]
    return {name: {**one, **one.get("do", {})} for name, one in stages.items()}


def variants(params: Params, stage: str) -> dict[str, dict[str, str]]:
    """The instances of a stage, and what each puts in the place of templates; {"": {}} for one that stands alone."""
    definition = definitions()[stage]
    if "foreach" in definition:
        return {name: dict.fromkeys(VARIANT, name) for name in _names(params, definition["foreach"])}
    if "matrix" in definition:
        axes = {axis: _names(params, names) for axis, names in definition["matrix"].items()}
        return {
            "-".join(names): {f"item.{axis}": name for axis, name in zip(axes, names, strict=True)}
            for names in itertools.product(*axes.values())
        }
    return {"": {}}


def settings_keys(stage: str) -> tuple[str, ...]:
    """The keys of the settings that a stage depends on, ``{}`` for the variant: ``models.{}``, ``seeds``."""
    listed = itertools.chain(*(one.get(SETTINGS, []) for one in definitions()[stage].get("params", [])))
    return tuple(_filled(key, dict.fromkeys(VARIANT, "{}")) for key in listed)


def outputs(params: Params) -> set[Path]:
    """Every file and folder that the instances of all stages make."""
    return {
        Path(_filled(path, {"experiment": params.experiment, **filling}))
        for stage in definitions()
        for filling in variants(params, stage).values()
        for path in _made_by(stage)
    }


def places(folder: str) -> tuple[str, ...]:
    """Where outputs may lie below a folder of dvc.yaml, with ``*`` for each name of an entry."""
    found = (
        path.removeprefix(folder)
        for stage in definitions()
        for path in _made_by(stage)
        if path.startswith(folder)
    )
    return tuple(dict.fromkeys(TEMPLATE.sub("*", path) for path in found))


def _made_by(stage: str) -> list[str]:
    """The paths that a stage names as its outputs, with their templates."""
    listed = itertools.chain(
        *(definitions()[stage].get(section, []) for section in ("outs", "metrics", "plots"))
    )
    return [path for one in listed for path in ([one] if isinstance(one, str) else one)]


def _names(params: Params, template: str) -> list[str]:
    """The names of a map's entries, or those in a list."""
    found = TEMPLATE.fullmatch(template)
    assert found is not None, template
    entries: Any = params
    for key in found[1].split("."):
        entries = entries[key] if isinstance(entries, dict) else getattr(entries, key)
    return list(entries)


def _filled(text: str, filling: dict[str, str]) -> str:
    return TEMPLATE.sub(lambda found: filling[found[1]], text)


# ---------------------------------------------------------------------- outputs of removed entries
#
# What a folder holds is in the hash that DVC takes of it. With the leftovers of removed entries dvc.lock would have
# hashes that no other clone can find. So the stage `settings` moves them to artifacts/<experiment>/removed, out of the
# way of the stages that read whole folders, and back when their entry is there again.

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
