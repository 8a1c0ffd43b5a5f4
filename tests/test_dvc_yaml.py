"""dvc.yaml says the same as the imports of its scripts and as pipeline/layout.py."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import STAGES, Layout, instances, record
from pipeline.params import load
from pipeline.params.yaml_file import read_yaml
from stages.report import REPORT
from tests.imports import ROOT, closure

#: Modules that change no output: what they tell MLflow, the terminal and timing files re-runs nothing.
NEUTRAL = frozenset(
    ROOT / "pipeline" / f"{name}.py" for name in ("tracking", "mlflow_store", "progress", "timing")
)
#: Run on the way to the modules inside them, and hold nothing that a result depends on.
PASSED = frozenset({ROOT / "src" / "quartet" / "__init__.py"})
#: Leaves no record: it is the record.
SILENT = {"report"}

DEFINITIONS: dict[str, dict[str, Any]] = {
    name: {**stage, **stage.get("do", {})} for name, stage in read_yaml(ROOT / "dvc.yaml")["stages"].items()
}


def _only_words(path: Path) -> bool:
    """True for a module that is a docstring and nothing else."""
    return all(
        isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def needed(script: Path) -> set[str]:
    """The files of ours that a stage's outputs may depend on."""
    files = closure(script, stop=NEUTRAL | PASSED)
    return {path.relative_to(ROOT).as_posix() for path in files if not _only_words(path)}


def modules(path: Path) -> set[str]:
    """A module's own path; of a folder all that hold more than words, which its stage must need one and all."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    found = {file.relative_to(ROOT).as_posix() for file in files if not _only_words(file)}
    return found or {path.relative_to(ROOT).as_posix()}


@pytest.mark.parametrize("stage", DEFINITIONS)
def test_a_stage_depends_on_the_modules_that_it_imports(stage: str) -> None:
    script = ROOT / DEFINITIONS[stage]["cmd"].split()[2].replace(".", "/")
    code = [path for path in DEFINITIONS[stage]["deps"] if path.startswith(("stages/", "pipeline/", "src/"))]
    files = needed(script.with_suffix(".py"))
    listed = {file for path in code for file in modules(ROOT / path)}
    missing, idle = sorted(files - listed), sorted(listed - files)
    assert (missing, idle) == ([], []), f"{stage}: add {missing} to its deps, take {idle} out of them"
    assert not [(path, file) for path in code for file in code if file.startswith(f"{path}/")]
    assert len(set(code)) == len(code)


def resolved_with(preset: str, folder: Path) -> Iterator[dict[str, Any]]:
    """DVC's own reading of dvc.yaml with a preset: stages by name."""
    from dvc.repo import Repo

    shutil.copyfile(ROOT / "dvc.yaml", folder / "dvc.yaml")
    shutil.copyfile(ROOT / "presets" / f"{preset}.yaml", folder / "params.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with Repo.init(".", no_scm=True) as repo:
            yield {stage.name: stage for stage in repo.index.stages}


@pytest.fixture(scope="module")
def resolved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    yield from resolved_with("sample", tmp_path_factory.mktemp("resolved"))


@pytest.mark.parametrize("preset", ["sample", "paper-tta-wiki", "paper-segatron-xl-base"])
def test_whatever_is_switched_off_every_stage_finds_what_it_reads(preset: str, tmp_path: Path) -> None:
    for stages in resolved_with(preset, tmp_path):
        outs = [Path(out.def_path) for stage in stages.values() for out in stage.outs]
        read = [dep.def_path for stage in stages.values() for dep in stage.deps]
        for path in {Path(one) for one in read if one.startswith("artifacts/")}:
            assert any(out.is_relative_to(path) or path.is_relative_to(out) for out in outs), path


def name_of(stage: str, variant: str) -> str:
    """DVC's name of a stage instance."""
    return f"{stage}@{variant}" if variant else stage


def test_the_stages_are_those_that_mlflow_and_the_results_know(resolved: dict[str, Any]) -> None:
    params = load(ROOT / "presets" / "sample.yaml")
    assert set(resolved) - SILENT == {name_of(*instance) for instance in instances(params)}


def test_every_stage_writes_its_record_where_the_layout_says(resolved: dict[str, Any]) -> None:
    params = load(ROOT / "presets" / "sample.yaml")
    for stage, variant in instances(params):
        outs = [Path(out.def_path) for out in resolved[name_of(stage, variant)].outs]
        path = record(params, stage, variant)
        assert any(path == out or path.is_relative_to(out) for out in outs), (stage, variant)


def test_the_settings_that_are_logged_are_those_that_re_run_a_stage(resolved: dict[str, Any]) -> None:
    from dvc.dependency.param import ParamsDependency

    params = load(ROOT / "presets" / "sample.yaml")
    for stage, variant in instances(params):
        tracked = {
            key
            for dep in resolved[name_of(stage, variant)].deps
            if isinstance(dep, ParamsDependency)
            for key in dep.params
        }
        assert tracked == {key.replace("{}", variant) for key in STAGES[stage].params}, (stage, variant)


def test_the_other_places_are_the_layouts(resolved: dict[str, Any]) -> None:
    params = load(ROOT / "presets" / "sample.yaml")
    layout = Layout(params.experiment)

    def outs(name: str) -> set[Path]:
        return {Path(out.def_path) for out in resolved[name].outs}

    assert layout.model("tta", params, params.seeds[0]) in outs("pretrain@tta")
    assert layout.curve("tta") in outs("pretrain@tta")
    assert layout.raw("wikipedia-sample") in outs("download@wikipedia-sample")
    assert layout.encoded("wikipedia-sample", "wordpiece-3k") in outs("encode@wikipedia-sample-wordpiece-3k")
    assert layout.task("classification", "polarity") in outs("tasks@polarity")
    assert layout.catalogue(layout.all_nbest) in outs("catalogue")
    assert all(path.parent == layout.report for path in outs("report"))
    assert {path.name for path in outs("report")} == set(REPORT), "the times are no output"
