"""The settings that decide what a stage trains or scores: all that dvc.yaml names for it, but for those listed here.

What a stage keeps of an earlier run is found by them. So a setting that is new in dvc.yaml counts until it is said that
it changes no weight and no score.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from pipeline import dvc_yaml
from pipeline.params import Params
from pipeline.run import choose_device
from pipeline.settings import CONTENT

_TRAINING = ("training.weights", "training.checkpoint_every")
#: By stage the settings that change nothing of what it keeps, ``{}`` for the variant. Seeds, examples and choices of a
#: grid name what is kept of each by themselves.
IDLE: Mapping[str, tuple[str, ...]] = {
    "pretrain": ("seeds", *(f"models.{{}}.{key}" for key in _TRAINING)),
    "translate": (
        "translators.{}.beam",
        "translators.{}.test",
        *(f"translators.{{}}.{key}" for key in _TRAINING),
    ),
    "rerank": (
        *("rerank.weights", "rerank.score", "rerank.unknown", "rerank.lengths"),
        *("judging", "seeds", "bootstrap"),
    ),
    "glue": ("glue.limit", "glue.seeds", "glue.default", "glue.tasks", "glue.own_schedule", "bootstrap"),
    "nli": ("nli.sets", "nli.limit", "nli.random_control", "bootstrap"),
    "squad": (
        *("squad.positions", "squad.train_limit", "squad.judged_limit", "squad.held_out", "squad.max_answer"),
        *("segmentation", "bootstrap"),
    ),
    "race": ("race.positions", "race.train_limit", "race.judged_limit", "segmentation", "bootstrap"),
}


def decisive_settings(params: Params, stage: str, variant: str) -> str:
    """As JSON, with the device that is chosen here in the place of ``auto``, and without the name of the variant.

    What local sources hold is left out: who reads one for a training hashes it for the training's name.
    """
    settings = TypeAdapter(Params).dump_python(params, mode="json")
    settings |= {"judging": params.judging, "device": choose_device(params.device)}
    return json.dumps(without_idle(settings, stage, variant), sort_keys=True)


def without_idle(settings: Mapping[str, Any], stage: str, variant: str) -> dict[str, Any]:
    """Of all settings those of a stage instance, by their keys in dvc.yaml, that are not in `IDLE`."""
    found = {
        key: copy.deepcopy(_at(settings, key.replace("{}", variant).split(".")))
        for key in dvc_yaml.settings_keys(stage)
        if not key.startswith(f"{CONTENT}.")
    }
    for idle in IDLE[stage]:
        _remove(found, idle)
    return found


def _at(settings: Any, names: Sequence[str]) -> Any:
    for name in names:
        settings = settings[name]
    return settings


def _remove(found: dict[str, Any], idle: str) -> None:
    """Take a key, or what stands below one, out of the settings.

    Raises:
        KeyError: the stage has no such setting.
    """
    if idle in found:
        del found[idle]
        return
    key = next(key for key in found if idle.startswith(f"{key}."))
    *above, last = idle.removeprefix(f"{key}.").split(".")
    del _at(found[key], above)[last]
