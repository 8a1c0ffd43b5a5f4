"""Changing keys of params.yaml for tests of what each of them does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML


def set_keys(workspace: Path, keys: Mapping[str, Any]) -> None:
    """Give keys of params.yaml, named as ``rerank.score``, other values."""
    yaml, path = YAML(typ="safe", pure=True), workspace / "params.yaml"
    settings = yaml.load(path)
    for key, value in keys.items():
        *sections, last = key.split(".")
        place = settings
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    yaml.dump(settings, path)
