"""The presets of the papers against the papers: every number, and the models that they name."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.stages import instances
from tests.imports import ROOT

PRESETS = sorted((ROOT / "presets").glob("*.yaml"))
LANGUAGE_MODELS = [
    "paper-tta-wiki",
    "paper-tta-librispeech",
    "paper-segatron-xl-base",
    "paper-segatron-xl-large",
    "paper-segabert-base",
    "paper-segabert-large",
]

#: A row of the last table of docs/fidelity.md: place, number, presets, setting.
ROW = re.compile(r"^\| ((?:T-TA|Segatron)[^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")


def published() -> dict[str, dict[str, Any]]:
    """preset -> dotted key -> the paper's value, from docs/fidelity.md."""
    text = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8").partition("## The papers' numbers")[2]
    found: dict[str, dict[str, Any]] = {}
    for place, number, presets, setting in ROW.findall(text):
        spans = SPAN.findall(setting)
        assert spans or setting.startswith("none: "), f"{place}, {number}: no setting, and no reason"
        for name in SPAN.findall(presets):
            for span in spans:
                key, _, value = span.partition(": ")
                assert key not in found.setdefault(name, {}), f"{name}: {key} stands twice"
                found[name][key] = YAML(typ="safe", pure=True).load(value)
    return found


PUBLISHED = published()

_RELEASED_XL: dict[str, Any] = {
    "init_std": 0.02,
    "norm_epsilon": 1e-5,
    "adaptive.cutoffs": (20_000, 40_000, 200_000),
    "training.learning_rate": 2.5e-4,
    "training.schedule": "cosine",
    "training.weight_decay": 0.0,
    "training.betas": (0.9, 0.999),
    "training.epsilon": 1e-8,
    "training.clip": 0.25,
    "training.weights": "best",
    "training.validate_every": 4_000,
    "training.validation_batches": 0,
    "training.checkpoint_every": 4_000,
}
_RELEASED_TTA: dict[str, Any] = {
    "init_std": 0.02,
    "norm_epsilon": 1e-12,
    "training.weight_decay": 0.01,
    "training.epsilon": 1e-6,
    "training.clip": 1.0,
    "training.mask_probability": 0.15,
    "training.validate_every": 10_000,
    "training.validation_batches": 100,
    "training.checkpoint_every": 10_000,
}
_RELEASED_SEGABERT: dict[str, Any] = {
    "init_std": 0.02,
    "norm_epsilon": 1e-5,
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "training.batch_size": 256,
    "training.precision": "fp16",
    "training.weight_decay": 0.01,
    "training.epsilon": 1e-8,
    "training.clip": 1.0,
    "training.mask_probability": 0.15,
    "training.max_selected": 80,
    "training.validate_every": 1_000,
    "training.validation_batches": 100,
    "training.checkpoint_every": 5_000,
}
#: What the papers leave out: from their released code, from BERT, or (parts of a batch) ours.
UNPUBLISHED: dict[str, dict[str, Any]] = {
    "paper-tta-wiki": _RELEASED_TTA,
    "paper-tta-librispeech": _RELEASED_TTA,
    "paper-segatron-xl-base": {
        **_RELEASED_XL,
        "inner": 2100,
        "dropout": 0.1,
        "attention_dropout": 0.0,
        "adaptive.div_val": 1,
        "training.warmup": 0.0,
    },
    "paper-segatron-xl-large": {
        **_RELEASED_XL,
        "inner": 4096,
        "dropout": 0.2,
        "attention_dropout": 0.2,
        "adaptive.div_val": 4,
        "training.warmup": 0.032,  # 16,000 of 500,000 steps
        "training.schedule_steps": 500_000,
        "training.accumulate": 16,
    },
    "paper-segabert-base": {**_RELEASED_SEGABERT, "inner": 3072, "training.accumulate": 8},
    "paper-segabert-large": {**_RELEASED_SEGABERT, "inner": 4096, "training.accumulate": 32},
}

SEGMENTS = ("token", "sentence", "paragraph")
#: preset -> model -> objective, architecture, positions and, for recurrent models, index and offset.
MODELS: dict[str, dict[str, tuple[Any, ...]]] = {
    "paper-tta-wiki": {
        "unilm": ("clm", "encoder", ("sequence",)),
        "bilm": ("mlm", "encoder", ("sequence",)),
        "tta": ("lae", "tta", ("sequence",)),
    },
    "paper-tta-librispeech": {
        "unilm": ("clm", "encoder", ("sequence",)),
        "bilm": ("mlm", "encoder", ("sequence",)),
        "tta": ("lae", "tta", ("sequence",)),
        "unisanlm-w": ("clm", "encoder", ("sequence",)),  # Table 1
        "bisanlm-w": ("mlm", "encoder", ("sequence",)),
    },
    "paper-segatron-xl-base": {
        "transformer-xl": ("clm", "transformer-xl", ("sequence",), "running", "exact"),
        "segatron-xl-token": ("clm", "transformer-xl", ("token",), "running", "exact"),  # Table 2
        "segatron-xl-token-paragraph": ("clm", "transformer-xl", ("token", "paragraph"), "running", "exact"),
        "segatron-xl-token-sentence": ("clm", "transformer-xl", ("token", "sentence"), "running", "exact"),
        "segatron-xl": ("clm", "transformer-xl", SEGMENTS, "running", "exact"),
        "segatron-xl-released": ("clm", "transformer-xl", SEGMENTS, "running", "released"),
        "segatron-xl-reset": ("clm", "transformer-xl", SEGMENTS, "reset", "exact"),
    },
    "paper-segatron-xl-large": {
        "transformer-xl": ("clm", "transformer-xl", ("sequence",), "running", "exact"),
        "segatron-xl": ("clm", "transformer-xl", SEGMENTS, "running", "exact"),
        "segatron-xl-released": ("clm", "transformer-xl", SEGMENTS, "running", "released"),
    },
    "paper-segabert-base": {
        "bert-": ("mlm", "encoder", ("sequence",)),
        "segabert": ("mlm", "encoder", SEGMENTS),
    },
    "paper-segabert-large": {
        "bert-": ("mlm", "encoder", ("sequence",)),
        "segabert": ("mlm", "encoder", SEGMENTS),
    },
}


def preset(name: str) -> Params:
    return read_params(ROOT / "presets" / f"{name}.yaml")


def values(found: Any, key: str) -> list[Any]:
    """The values of a dotted key below settings; ``*`` is every entry of a map."""
    if not key:
        return [list(found) if isinstance(found, tuple) else found]
    name, _, rest = key.partition(".")
    if name == "*":
        return [value for entry in found.values() for value in values(entry, rest)]
    return values(found[name] if isinstance(found, dict) else getattr(found, name), rest)


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_every_preset_parses_under_its_own_name(path: Path) -> None:
    assert read_params(path).experiment == path.stem


@pytest.mark.parametrize("name", sorted(path.stem for path in PRESETS if path.stem.startswith("paper-")))
def test_every_number_is_the_papers(name: str) -> None:
    params = preset(name)
    assert len(PUBLISHED[name]) > 7
    for key, expected in PUBLISHED[name].items():
        found = values(params, key)
        assert found and all(value == expected for value in found), (key, found)


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_what_the_papers_leave_out_is_the_released_codes(name: str) -> None:
    for key, expected in UNPUBLISHED[name].items():
        for found in values(preset(name), f"models.*.{key}"):
            assert found == (list(expected) if isinstance(expected, tuple) else expected), key


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_a_number_that_is_not_the_papers_says_so(name: str) -> None:
    """Each number under ``models:`` stands on one line, for all models, and is in one of the tables above."""
    text = (ROOT / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    section = text[text.index("\nmodels:") : text.index("\nngrams:")]
    numbers = re.findall(r"^ +(\w+): \[?-?\d[^#\n]*(#.*)?$", section, flags=re.MULTILINE)
    found = {key: "not in the paper: " in comment for key, comment in numbers}
    assert len(found) == len(numbers), "a number stands twice"

    def leaves(table: dict[str, Any]) -> set[str]:
        return {key.rpartition(".")[2] for key, value in table.items() if not isinstance(value, str)}

    models = {key: value for key, value in PUBLISHED[name].items() if key.startswith("models.")}
    assert {key for key, unsaid in found.items() if not unsaid} == leaves(models)
    assert {key for key, unsaid in found.items() if unsaid} == leaves(UNPUBLISHED[name])


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_the_models_are_the_papers(name: str) -> None:
    found = {}
    for key, model in preset(name).models.items():
        recurrent = model.architecture == "transformer-xl"
        index = (model.recurrence.index, model.recurrence.offset) if recurrent else ()
        found[key] = (model.objective, model.architecture, model.positions, *index)
    assert found == MODELS[name]


def test_what_the_models_read() -> None:
    for name in LANGUAGE_MODELS:
        kind = {"tta": "sentences", "segatron": "streams", "segabert": "spans"}[name.split("-")[1]]
        assert {model.reads for model in preset(name).models.values()} == {kind}
    word_level = preset("paper-tta-librispeech")
    kinds = {key: word_level.tokenizers[model.tokenizer].kind for key, model in word_level.models.items()}
    assert kinds == {
        "unilm": "wordpiece",
        "bilm": "wordpiece",
        "tta": "wordpiece",
        "unisanlm-w": "word",
        "bisanlm-w": "word",
    }


@pytest.mark.parametrize("name", ["paper-tta-wiki", "paper-tta-librispeech"])
def test_the_ngram_is_of_the_models_text(name: str) -> None:
    params = preset(name)
    (ngram,) = params.ngrams.values()
    assert {ngram.corpus} == {model.corpus for model in params.models.values()}


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_dvc_resolves_the_pipeline(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dvc.repo import Repo

    shutil.copyfile(ROOT / "dvc.yaml", tmp_path / "dvc.yaml")
    shutil.copyfile(ROOT / "presets" / f"{name}.yaml", tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    with Repo.init(".", no_scm=True) as repo:
        stages = {stage.name for stage in repo.index.stages if not stage.name.startswith("runtime-inputs@")}
        stages -= {"code", "settings", "report"}
    wanted = instances(preset(name))
    assert stages == {f"{stage}@{variant}" if variant else stage for stage, variant in wanted}
