"""dvc.yaml says the same as the imports of its scripts, as pipeline/layout.py, and to us the same as to DVC."""

from __future__ import annotations

import inspect
import runpy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pipeline.code
import pipeline.run
import pipeline.settings
from pipeline import dvc_yaml
from pipeline.layout import REPORT, Layout
from pipeline.removed_entries import ARTIFACTS, expected_outputs
from pipeline.settings import read_params
from pipeline.stages import instances, record
from quartet.config.loading import read_yaml
from tests.imports import ROOT

#: Leave no record: they come before it, or are the record.
SILENT = {"code", "settings", "runtime-inputs", "report"}
CODE, SETTINGS = str(pipeline.code.DIGESTS), str(pipeline.settings.SETTINGS)

DEFINITIONS: dict[str, dict[str, Any]] = {
    name: {**stage, **stage.get("do", {})} for name, stage in read_yaml(ROOT / "dvc.yaml")["stages"].items()
}


@pytest.mark.parametrize("stage", sorted(set(DEFINITIONS) - {"code"}))
def test_a_stage_names_the_digest_of_its_script_and_no_module(stage: str) -> None:
    definition = DEFINITIONS[stage]
    params = {name: keys for one in definition["params"] for name, keys in one.items()}
    script = definition["cmd"].split()[2].removeprefix("stages.")
    assert params.pop(CODE) == [script]
    assert script in pipeline.code.digests()
    assert set(params) <= {SETTINGS}
    assert ("params.yaml" in definition.get("deps", [])) == (stage == "settings")
    assert not [path for path in definition.get("deps", []) if path.startswith(("stages", "pipeline", "src"))]


@pytest.mark.parametrize("stage", sorted(set(DEFINITIONS) - {"code"}))
@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_a_stages_command_calls_what_takes_its_arguments(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Callable[..., None]] = []
    monkeypatch.setattr(pipeline.run, "main", called.append)
    _, _, module, *arguments = DEFINITIONS[stage]["cmd"].split()
    runpy.run_module(module, run_name="__main__")
    (function,) = called
    inspect.signature(function).bind(*arguments)


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
    params = read_params(ROOT / "presets" / "sample.yaml")
    assert {name for name in resolved if name.split("@")[0] not in SILENT} == {
        name_of(*instance) for instance in instances(params)
    }


def test_every_stage_writes_its_record_where_the_layout_says(resolved: dict[str, Any]) -> None:
    params = read_params(ROOT / "presets" / "sample.yaml")
    for stage, variant in instances(params):
        outs = [Path(out.def_path) for out in resolved[name_of(stage, variant)].outs]
        path = record(params, stage, variant)
        assert any(path == out or path.is_relative_to(out) for out in outs), (stage, variant)


@pytest.mark.parametrize("preset", ["tiny", "small", "paper-nmt"])
def test_what_a_removed_entry_had_made_is_known_by_what_dvc_yaml_makes(preset: str, tmp_path: Path) -> None:
    """Every output of a preset's stages, code, settings and report apart, and no other path."""
    params = read_params(ROOT / "presets" / f"{preset}.yaml")
    layout = Layout(params.experiment)
    for stages in resolved_with(preset, tmp_path):
        outs = [Path(out.def_path) for stage in stages.values() for out in stage.outs]
        below = {path for path in outs if path.is_relative_to(layout.artifacts)}
        sets = expected_outputs(params, layout) - below
        assert dvc_yaml.outputs(params) == set(outs)
        assert expected_outputs(params, layout) - sets == below - {layout.all_tasks}
        assert all(path.is_relative_to(layout.all_tasks) for path in sets)
        for path in below:
            places = dvc_yaml.places(ARTIFACTS)
            assert any(path.relative_to(layout.artifacts).match(place) for place in places), path


def test_the_settings_that_are_logged_are_those_that_re_run_a_stage(resolved: dict[str, Any]) -> None:
    from dvc.dependency.param import ParamsDependency

    params = read_params(ROOT / "presets" / "sample.yaml")
    for stage, variant in instances(params):
        tracked = {
            key
            for dep in resolved[name_of(stage, variant)].deps
            if isinstance(dep, ParamsDependency) and dep.def_path == SETTINGS
            for key in dep.params
        }
        assert tracked == {key.replace("{}", variant) for key in dvc_yaml.settings_keys(stage)}, (
            stage,
            variant,
        )


def test_the_other_places_are_the_layouts(tmp_path: Path) -> None:
    (resolved,) = resolved_with("tiny", tmp_path)
    params = read_params(ROOT / "presets" / "tiny.yaml")
    layout = Layout(params.experiment)

    def outs(name: str) -> set[Path]:
        return {Path(out.def_path) for out in resolved[name].outs}

    corpus, tokenizer = "wikipedia-sample", "wordpiece-1k"
    places = {
        f"download@{corpus}": [layout.raw(corpus)],
        f"segment@{corpus}": [layout.segments(corpus)],
        f"tokenizer@{tokenizer}": [layout.tokenizer(tokenizer)],
        f"encode@{corpus}-{tokenizer}": [layout.encoded(corpus, tokenizer)],
        "pretrain@tta": [layout.model("tta", params, params.seeds[0]), layout.curve("tta")],
        "perplexity@tta": [layout.losses("tta")],
        "rerank@tta": [layout.rescored("tta"), layout.wer_curve("tta")],
        "combine": [layout.combined],
        **{
            f"{stage}@tta": [layout.outcomes(stage, "tta")]
            for stage in ("sts", "wordsim", "finetune", "nli", "blimp")
        },
        "baselines": [layout.outcomes("baselines")],
        "glue@tta": [layout.glue("tta"), layout.outcomes("glue", "tta")],
        "squad@tta": [layout.predictions("squad", "tta"), layout.outcomes("squad", "tta")],
        "race@tta": [layout.predictions("race", "tta"), layout.outcomes("race", "tta")],
        "attention@tta": [layout.attention("tta")],
        "runtime-inputs@tta": [layout.runtime_inputs("tta")],
        "runtime": [layout.timed],
        "nbest@sample-speech": [layout.nbest("sample-speech")],
        "settings": map(layout.catalogue, (layout.all_nbest, layout.all_rescored, layout.all_attention)),
    }
    for name, paths in places.items():
        assert set(paths) <= outs(name), name
    assert outs("tasks") == {layout.all_tasks}
    assert outs("report") == {*(layout.report / name for name in REPORT), layout.reported}, (
        "times are no output"
    )
