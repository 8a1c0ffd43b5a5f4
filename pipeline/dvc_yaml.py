"""dvc.yaml, as code reads it: the instances of a stage, the settings that each depends on, and what it makes.

DVC resolves the templates itself; here is the little of it that the settings, MLflow and the report need, without
DVC's seconds of start. tests/test_dvc_yaml.py compares the two.
"""

from __future__ import annotations

import functools
import itertools
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pipeline.params import Params

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
