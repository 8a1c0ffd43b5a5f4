"""params.yaml as tests write it: as JSON, which is YAML too, and which Python parses a hundred times as fast."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from quartet.config.loading import read_yaml

#: The first line of such a file.
AS_JSON = "# written as JSON\n"


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    path.write_text(as_text(settings), encoding="utf-8")


def as_text(settings: dict[str, Any]) -> str:
    return AS_JSON + json.dumps(settings)


def change_settings(path: Path, keys: dict[str, Any]) -> None:
    """Give keys of params.yaml, named as ``rerank.score``, other values."""
    settings = read_yaml(path)
    for key, value in keys.items():
        *sections, last = key.split(".")
        place = settings
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = copy.deepcopy(value)
    write_settings(path, settings)


@functools.lru_cache(64)
def _parsed(text: str) -> object:
    return (
        json.loads(text[len(AS_JSON) :])
        if text.startswith(AS_JSON)
        else YAML(typ="safe", pure=True).load(text)
    )


class Remembering(YAML):  # type: ignore[misc]
    """Stands for ruamel's class in :mod:`quartet.config.loading`: the same few texts are read thousands of times."""

    def load(self, stream: Any) -> Any:
        return copy.deepcopy(_parsed(stream))
