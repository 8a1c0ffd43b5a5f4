"""Imports go stages -> pipeline -> quartet, never back; and what is slow to import is imported where it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.code import AROUND, HOMES, READING
from quartet import code
from tests.imports import ROOT, closure, imports, module_file

QUARTET = sorted((ROOT / "src" / "quartet").rglob("*.py"))
PIPELINE = sorted((ROOT / "pipeline").rglob("*.py"))
STAGES = sorted((ROOT / "stages").glob("*.py"))
#: The rooms of the library, then the pipeline and its stages. A module imports its own room and those before it.
ROOMS = [
    # what knows no language model
    "errors",
    "arguments",
    "hardware",
    "files",
    "user_files",
    "paths",
    "results",
    "code",
    # settings; figures; texts and tokens; models of Hugging Face as files
    "config",
    "statistics",
    "text",
    "hugging_face",
    "kernels",
    "models",
    "data",
    "objectives",
    "scoring",
    "training",
    "nbest",
    "ngram",
    "runtime",
    "recognise",
    "export",
    "model_folders",
    "scorers",
    "shipped_model",
    "tasks",
    "report",
    "quartet",
    "pyfunc",
    "cli",
    "pipeline",
    "stages",
    # in no wheel and in no stage
    "benchmarks",
    "docs",
]
#: The rooms that are folders beside ``src``.
BESIDE = ("pipeline", "stages", "benchmarks", "docs")
#: The only stages that train: everything else starts without Lightning.
TRAINING = {"pretrain", "translate", "finetune", "glue", "nli", "squad", "race"}
#: Stages that look at text or at results only: tests/slow/stages/test_start.py.
WITHOUT_TORCH = {
    "download",
    "segment",
    "tokenizer",
    "encode",
    "tasks",
    "nbest",
    "ngram",
    "baselines",
    "combine",
    "compare",
    "compare_losses",
    "vectors",
    "settings",
    "runtime_inputs",
    "report",
}
#: The folders of `quartet.tasks` whose sets a stage reads. Both kinds of questions have one evaluation.
READ_BY = {
    "sts": ["sts"],
    "wordsim": ["wordsim"],
    "finetune": ["classification"],
    "glue": ["glue"],
    "nli": ["nli", "sts"],
    "squad": ["race", "squad"],
    "race": ["race", "squad"],
    "blimp": ["blimp"],
    "vectors": ["sts"],
}


def tops(names: set[str]) -> set[str]:
    """The packages of dotted names."""
    return {name.split(".")[0] for name in names}


def name(path: Path) -> str:
    """A path as an id of a test."""
    return path.relative_to(ROOT).as_posix()


def room(module: str) -> str:
    """Where a module of ours lives: a folder or a file of ``src/quartet``, or a folder beside ``src``."""
    top, *rest = module.split(".")
    return rest[0] if top == "quartet" and rest else top


def imported(path: Path) -> set[str]:
    """The rooms that a file imports."""
    ours = {"quartet", *BESIDE, "tests"}
    return {room(module) for module in imports(path) if module.split(".")[0] in ours}


def modules(where: str) -> list[Path]:
    """The files of a room."""
    if where == "quartet":
        return [ROOT / "src" / "quartet" / "__init__.py"]
    if where in BESIDE:
        return sorted((ROOT / where).rglob("*.py"))
    place = ROOT / "src" / "quartet" / where
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def test_every_module_has_a_room() -> None:
    found = {path.name.removesuffix(".py") for path in (ROOT / "src" / "quartet").iterdir()}
    assert found - {"__init__", "__pycache__"} | {"quartet", *BESIDE} == set(ROOMS)
    assert len(ROOMS) == len(set(ROOMS))


@pytest.mark.parametrize("where", ROOMS)
def test_a_room_imports_earlier_ones_alone(where: str) -> None:
    """Within functions too."""
    earlier = set(ROOMS[: ROOMS.index(where) + 1])
    assert {name(path): later for path in modules(where) if (later := imported(path) - earlier)} == {}


def test_the_library_and_the_stages_know_neither_dvc_nor_mlflow() -> None:
    known = {name(path): tops(imports(path)) & {"dvc", "mlflow"} for path in [*QUARTET, *STAGES]}
    assert {path: found for path, found in known.items() if found} == {}
    assert [name(path) for path in PIPELINE if "dvc" in tops(imports(path))] == [
        "pipeline/changes.py",
        "pipeline/repair_dvc_files.py",
    ]


def test_a_stage_knows_no_other_stage() -> None:
    known = {name(path): "stages" in imported(path) for path in STAGES if path.name != "__init__.py"}
    assert [path for path, found in known.items() if found] == []


def test_the_stages_reach_mlflow_by_their_runner_alone() -> None:
    open_to_all = {"pipeline.tracking.stage", "pipeline.tracking.progress"}
    known = {
        name(path): {each for each in imports(path) if each.startswith("pipeline.tracking")} - open_to_all
        for path in STAGES
    }
    assert {path: found for path, found in known.items() if found} == {}


def test_only_the_store_and_what_makes_its_models_import_mlflow() -> None:
    assert [name(path) for path in PIPELINE if "mlflow" in tops(imports(path))] == [
        "pipeline/tracking/mlflow.py",
        "pipeline/tracking/models.py",
    ]


def packages(path: Path) -> set[str]:
    """Every package that running a stage imports at its start or later, ours included."""
    return {top for names in closure(path).values() for top in tops(names)}


@pytest.mark.parametrize("path", [path for path in STAGES if path.stem not in TRAINING], ids=name)
def test_a_stage_that_does_not_train_imports_no_lightning(path: Path) -> None:
    assert not packages(path) & {"pytorch_lightning", "lightning"}


@pytest.mark.parametrize("stage", READ_BY)
def test_an_edit_of_a_reader_of_sets_concerns_those_who_read_with_it(stage: str) -> None:
    found = code.closure([ROOT / "stages" / f"{stage}.py"], (*AROUND, READING), HOMES)
    tasks = ROOT / "src" / "quartet" / "tasks"
    readers = [path.parent.name for path in found if path.name == "data.py" and path.is_relative_to(tasks)]
    assert sorted(readers) == READ_BY[stage]


def test_what_is_tried_on_a_gpu_needs_neither_dvc_nor_mlflow() -> None:
    """A card is lent with PyTorch and little else."""
    homes = {**HOMES, "tests": ROOT}
    found = code.closure([ROOT / "tests" / "test_gpu.py"], homes=homes, inside_functions=False)
    imported = {name(path): tops(set(code.imports(path, False, homes))) for path in found}
    assert "tests/models/shapes.py" in imported
    assert [path for path, names in imported.items() if names & {"dvc", "mlflow", "pipeline"}] == []


def test_the_reader_of_imports_sees_functions_and_packages(tmp_path: Path) -> None:
    source = tmp_path / "made.py"
    source.write_text(
        "from typing import TYPE_CHECKING\nfrom quartet.errors import InputError\nimport quartet.files\n"
        "if TYPE_CHECKING:\n    import torch\nelse:\n    import gzip\n"
        "try:\n    import json\nexcept ImportError:\n    import re\n"
        "def late():\n    from quartet import load, results\n"
    )
    at_the_top = {"typing", "quartet.errors", "quartet.files", "gzip", "json", "re"}
    assert imports(source, inside_functions=False) == at_the_top
    assert imports(source) == at_the_top | {"quartet", "quartet.results"}
    assert module_file("quartet.errors") == ROOT / "src" / "quartet" / "errors.py"
    assert module_file("quartet.errors.InputError") is None
    found = {name(path) for path in closure(source) if path.is_relative_to(ROOT)}
    assert {"src/quartet/errors.py", "src/quartet/files.py", "src/quartet/results.py"} <= found
