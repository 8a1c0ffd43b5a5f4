"""A preset with less of everything that costs time, and nothing else changed.

Depth, heads, positions, lengths of inputs and memories, objectives, schedules, vocabularies' kinds and all names stay.
What a machine lacks (a GPU, lmplz) is replaced and told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

#: Optimiser steps, and those between validations and between resume points.
STEPS, EVERY = 2, 1
#: Inputs of a batch, and its parts.
BATCH, PARTS = 2, 2
#: Of each head; the feed-forward width is so many times the whole.
HEAD_WIDTH, FEED_FORWARD = 4, 2
#: Words of the synthetic text at which an adaptive softmax is cut.
CUTOFFS = [100, 200, 400]
#: Of counts that a small text is too small to give.
DISCOUNTS = [0.5, 1.0, 1.5]
#: Documents that are read: more than the synthetic dump has, fewer than it has together with other text.
DOCUMENTS = 28
#: Tokens of a test document that are scored.
SCORED = 12

#: Every key that may differ from the preset's.
SIZES = frozenset(
    {
        *("corpora.*.limit", "threads", "bootstrap", "perplexity.tokens_per_document"),
        *("models.*.dim", "models.*.inner", "models.*.adaptive.cutoffs"),
        *("translators.*.dim", "translators.*.inner", "translators.*.beam.extra_tokens"),
        *(
            f"{section}.*.training.{key}"
            for section in ("models", "translators")
            for key in ("steps", "batch_size", "validate_every", "validation_batches", "checkpoint_every")
        ),
        *("models.*.training.accumulate", "models.*.training.schedule_steps"),
        *("runtime.repeats", "runtime.hypotheses", "ngrams.*.discount_fallback"),
        *("glue.default.batch_size", "glue.default.learning_rate", "glue.default.epochs"),
        *(f"glue.tasks.{task}.{key}" for task in ("qqp", "mnli", "qnli") for key in ("batch_size", "epochs")),
        *("squad.epochs", "race.epochs"),
    }
)
#: Every key that may differ where the machine lacks something.
LACKS = frozenset({"models.*.training.precision", "ngrams.*.estimator"})


def shrink(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a preset, as :func:`quartet.config.loading.read_yaml` reads them, with tiny sizes."""
    small: dict[str, Any] = json.loads(
        json.dumps(settings)
    )  # no aliases: YAML's anchors share their mappings
    small |= {"threads": 1, "bootstrap": 20}
    for corpus in small["corpora"].values():
        corpus["limit"] = DOCUMENTS
    for model in small["models"].values():
        _narrow(model)
        training = model["training"]
        if "accumulate" in training:
            training["accumulate"] = PARTS
        if "schedule_steps" in training:
            training["schedule_steps"] = STEPS + EVERY
        training["batch_size"] = BATCH
        if model.get("adaptive"):
            model["adaptive"]["cutoffs"] = CUTOFFS
    for ngram in small["ngrams"].values():
        ngram["discount_fallback"] = DISCOUNTS
    for translator in small["translators"].values():
        _narrow(translator)
        translator["training"]["batch_size"] = 200  # tokens
        translator["beam"]["extra_tokens"] = 2
    if small["perplexity"]["tokens_per_document"]:
        small["perplexity"]["tokens_per_document"] = SCORED
    grids = small["glue"]
    for grid in (grids["default"], *grids.get("tasks", {}).values()):
        grid |= {"batch_size": [BATCH], "learning_rate": grid["learning_rate"][:1], "epochs": [1]}
    for section in ("squad", "race"):
        small[section]["epochs"] = 1
    small["runtime"]["repeats"] = 1
    if small["runtime"].get("hypotheses"):
        small["runtime"]["hypotheses"] = 2
    return small


def _narrow(network: dict[str, Any]) -> None:
    """Less width, and a training of a few steps."""
    network["dim"] = network["heads"] * HEAD_WIDTH
    network["inner"] = FEED_FORWARD * network["dim"]
    training = network["training"]
    training |= {"steps": STEPS, "validate_every": EVERY, "checkpoint_every": EVERY}
    if training.get("validation_batches"):
        training["validation_batches"] = 1


def equip(small: dict[str, Any], gpu: bool, lmplz: bool) -> list[str]:
    """Replace what a machine lacks, in place; what was replaced, in words."""
    told = []
    halves = [
        model["training"]
        for model in small["models"].values()
        if model["training"].get("precision") == "fp16"
    ]
    if halves and not gpu:
        for training in halves:
            training["precision"] = "bf16"
        told.append("bf16 for fp16")
    counted = [ngram for ngram in small["ngrams"].values() if ngram["estimator"] == "lmplz"]
    if counted and not lmplz:
        for ngram in counted:
            ngram["estimator"] = "own"
        told.append("our own n-gram counts for lmplz")
    return told


def differences(one: Any, other: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The keys whose values differ; the name of an entry is ``*``."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differences(one.get(key), other.get(key), (*path, key))
    elif one != other:
        named = path[0] in ("corpora", "models", "ngrams", "translators") and len(path) > 2
        yield ".".join((path[0], "*", *path[2:]) if named else path)
