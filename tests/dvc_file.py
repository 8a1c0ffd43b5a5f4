"""dvc.yaml without its code: DVC writes dvc.lock anew after each stage, and most lines of it are of modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

CODE = ("src/", "pipeline/", "stages/")


def drop_code(path: Path, *kept: str) -> None:
    """Take the modules and folders of code out of the deps of a dvc.yaml, but for those ``kept``."""
    yaml = YAML(typ="safe")
    found: dict[str, Any] = yaml.load(path)
    for stage in found["stages"].values():
        entry = stage.get("do", stage)
        if "deps" in entry:
            entry["deps"] = [dep for dep in entry["deps"] if dep in kept or not dep.startswith(CODE)]
    yaml.dump(found, path)
