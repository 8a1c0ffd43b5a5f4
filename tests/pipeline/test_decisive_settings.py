"""What a stage keeps is found by every setting that dvc.yaml names for it, but for those that are said to be idle."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from pipeline.decisive_settings import IDLE, decisive_settings, without_idle
from pipeline.dvc_yaml import settings_keys, variants
from pipeline.params import Params
from pipeline.settings import CONTENT, read_params
from tests.imports import ROOT

#: By stage a preset that has one of its instances.
PRESETS = dict.fromkeys(IDLE, "tiny") | {"translate": "paper-nmt"}


def leaves(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}")
    else:
        yield path


def parent(settings: Any, path: str) -> tuple[Any, str]:
    *above, last = path.split(".")
    for name in above:
        settings = settings[name]
    return settings, last


@pytest.mark.parametrize("stage", IDLE)
def test_every_setting_counts_but_for_idle_ones(stage: str) -> None:
    params = read_params(ROOT / "presets" / f"{PRESETS[stage]}.yaml")
    variant = next(iter(variants(params, stage)))
    settings = TypeAdapter(Params).dump_python(params, mode="json") | {"judging": params.judging}
    keys = [key.replace("{}", variant) for key in settings_keys(stage) if not key.startswith(CONTENT)]
    every = set()
    for key in keys:
        section, last = parent(settings, key)
        every |= set(leaves(section[last], key))
    before, counted = without_idle(settings, stage, variant), set()
    for path in every:
        changed = copy.deepcopy(settings)
        section, last = parent(changed, path)
        section[last] = "another"
        if without_idle(changed, stage, variant) != before:
            counted.add(path)
    idle = tuple(f"{key.replace('{}', variant)}." for key in IDLE[stage])
    assert counted == {path for path in every if not f"{path}.".startswith(idle)}
    assert {"device", "threads"} <= counted


def test_a_name_is_no_setting(tmp_path: Path) -> None:
    """A model that is called otherwise finds its training."""
    text = (ROOT / "presets" / "tiny.yaml").read_text(encoding="utf-8")
    found = []
    for name in ("tta", "first"):
        path = tmp_path / "params.yaml"
        path.write_text(text.replace("\n  tta:\n", f"\n  {name}:\n").replace("tta]", f"{name}]"))
        found.append(decisive_settings(read_params(path), "pretrain", name))
    assert found[0] == found[1]
