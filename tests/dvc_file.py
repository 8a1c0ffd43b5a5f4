"""dvc.yaml without its code: DVC writes dvc.lock anew after each stage, and most lines of it are of modules."""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml import YAML

from pipeline.params.yaml_file import read_yaml

CODE = ("src/", "pipeline/", "stages/")


def drop_code(path: Path, *kept: str) -> None:
    """Take the modules and folders of code out of the deps of a dvc.yaml, but for those ``kept``."""
    found = read_yaml(path)
    seen: set[str] = set()
    for stage in found["stages"].values():
        entry = stage.get("do", stage)
        if "deps" in entry:
            seen.update(entry["deps"])
            entry["deps"] = [dep for dep in entry["deps"] if dep in kept or not dep.startswith(CODE)]
    assert seen.issuperset(kept), f"no stage depends on {sorted(set(kept) - seen)}"
    YAML(typ="safe", pure=True).dump(found, path)
