"""Which stages a real `dvc repro` runs after an edit: dvc.yaml as it is, with scripts that only write something."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dvc_file import drop_code
from tests.imports import ROOT

#: What is edited here of the code that stages depend on: a module, and two folders.
MODULE, FOLDERS = "src/quartet/nbest/rerank.py", ("pipeline/params", "src/quartet/nbest/formats")
#: Takes the place of every script in stages/: writes each of the stage's outputs, different for different inputs.
SCRIPT = """
import hashlib, json, pathlib, sys
stage = sys.argv[0].rsplit("/", 1)[-1].removesuffix(".py").replace("_", "-")
name = f"{stage}@{'-'.join(sys.argv[1:])}" if sys.argv[1:] else stage
known = json.loads(pathlib.Path("stages.json").read_text())[name]
text = json.dumps(known["params"], sort_keys=True)
for dep in known["deps"]:
    root = pathlib.Path(dep)
    files = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
    text += "".join(path.read_text() for path in files)
for out in known["outs"]:
    path = pathlib.Path(out)
    if path.suffix:
        path.parent.mkdir(parents=True, exist_ok=True)
    else:
        path.mkdir(parents=True, exist_ok=True)
        path = path / "made"
    path.write_text(name + hashlib.sha256(text.encode()).hexdigest())
"""


#: What follows wherever lists were reranked anew.
AFTER_RERANKING = {"combine", "compare", "report"}
#: Evaluations on the preset's examples of published sets.
ON_SETS = ("sts", "glue", "nli", "squad", "race", "blimp")


class Pipeline:
    """A copy of the pipeline in a folder of its own, with scripts that take no time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("dvc.yaml", ".dvcignore", "pipeline", "src"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(source, folder / name)
        drop_code(folder / "dvc.yaml", MODULE, *FOLDERS)
        self.params = (ROOT / "presets" / "tiny.yaml").read_text(encoding="utf-8")
        self.edit(lambda text: text)
        lists = folder / "data" / "nbest" / "sample-speech"
        lists.mkdir(parents=True)
        for split in ("dev", "test"):
            (lists / f"{split}.json").write_text("{}")
        (folder / "stages").mkdir()
        (folder / "stages" / "__init__.py").touch()
        for stage in (ROOT / "dvc.yaml").read_text(encoding="utf-8").split("python -m stages.")[1:]:
            (folder / "stages" / f"{stage.split()[0]}.py").write_text(SCRIPT)
        self.dvc("init", "--no-scm", "--quiet")
        self.dvc("config", "core.analytics", "false")

    def edit(self, change: Callable[[str], str]) -> None:
        """Write params.yaml, changed."""
        changed = change(self.params)
        (self.folder / "params.yaml").write_text(changed, encoding="utf-8")

    def dvc(self, *arguments: str) -> str:
        """What a command of DVC says."""
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        command = [sys.executable, "-m", "dvc", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def repro(self) -> set[str]:
        """Bring everything up to date; returns the stages that ran."""
        (self.folder / "stages.json").write_text(json.dumps(self._stages()))
        said = self.dvc("repro")
        return {line.split("'")[1] for line in said.splitlines() if line.startswith("Running stage")}

    def _stages(self) -> dict[str, Any]:
        from dvc.dependency.param import ParamsDependency
        from dvc.repo import Repo

        with Repo(self.folder) as repo:
            found = {}
            for stage in repo.index.stages:
                settings = [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
                found[stage.name] = {
                    "params": [dep.read_params(flatten=True) for dep in settings],
                    "deps": [dep.def_path for dep in stage.deps if dep not in settings],
                    "outs": [out.def_path for out in stage.outs],
                }
            return json.loads(json.dumps(found, default=str))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """The preset tiny, run once."""
    made = Pipeline(tmp_path_factory.mktemp("runs"))
    ran = made.repro()
    assert {
        "download@wikipedia-sample",
        "encode@wikipedia-sample-wordpiece-1k",
        "pretrain@tta",
        "report",
    } <= ran
    return made


@pytest.fixture
def pipeline(done: Pipeline, tmp_path: Path) -> Pipeline:
    """A copy in which everything is up to date."""
    own = copy.copy(done)
    own.folder = tmp_path / "run"
    shutil.copytree(done.folder, own.folder)
    return own


def test_nothing_is_left_to_do(pipeline: Pipeline) -> None:
    assert pipeline.dvc("status").strip() == "Data and pipelines are up to date."
    assert pipeline.repro() == set()


def test_an_edit_of_one_model_re_runs_what_hangs_on_it(pipeline: Pipeline) -> None:
    pipeline.edit(lambda text: text.replace("steps: 30", "steps: 31", 1))
    evaluations = {
        f"{stage}@tta" for stage in ("perplexity", "rerank", "wordsim", "finetune", "attention", *ON_SETS)
    }
    assert pipeline.repro() == {"pretrain@tta", "compare-losses", "runtime"} | evaluations | AFTER_RERANKING


def test_a_new_model_runs_alone_whatever_its_name(pipeline: Pipeline) -> None:
    entry = pipeline.params[pipeline.params.index("  tta:\n") : pipeline.params.index("  segatron-xl:")]
    pipeline.edit(lambda text: text.replace(entry, entry + entry.replace("  tta:\n", "  bert-:\n", 1)))
    of_all = {"compare-losses", "runtime"}  # each model beside the others
    assert pipeline.repro() == {"pretrain@bert-", "perplexity@bert-", "report"} | of_all


def test_a_deleted_model_leaves_the_report(pipeline: Pipeline) -> None:
    entry = pipeline.params[pipeline.params.index("  segatron-xl:") : pipeline.params.index("pretrained:")]
    pipeline.edit(lambda text: text.replace(entry, "\n"))
    assert pipeline.repro() == {"compare-losses", "report"}


def test_an_edit_of_an_evaluation_trains_nothing(pipeline: Pipeline) -> None:
    pipeline.edit(lambda text: text.replace("weights: exact", "weights: {start: 0.0, stop: 1.0, step: 0.5}"))
    assert pipeline.repro() == {"rerank@tta", "rerank@ngram-3"} | AFTER_RERANKING


def test_a_changed_list_re_runs_what_reads_lists(pipeline: Pipeline) -> None:
    (pipeline.folder / "data" / "nbest" / "sample-speech" / "test.json").write_text('{"u": 1}')
    reranked = {"rerank@tta", "rerank@ngram-3"} | AFTER_RERANKING
    assert pipeline.repro() == {"nbest@sample-speech", "baselines"} | reranked


def test_no_list_no_task_and_nothing_to_evaluate_is_fine(pipeline: Pipeline) -> None:
    def emptied(text: str) -> str:
        lists = text[text.index("nbest:") : text.index("evaluate:")]
        text = text.replace(lists, "nbest: {}\ntasks: {}\n").replace("models: [tta]", "models: []")
        text = text.replace("  rerank: [ngram-3, tta]", "  rerank: []")
        text = text.replace("sets: [snli]", "sets: []")
        for stage in ("wordsim", "finetune", *ON_SETS):
            text = text.replace(f"  {stage}: [tta]", f"  {stage}: []")
        return text

    pipeline.edit(emptied)
    from pipeline.params import load

    load(pipeline.folder / "params.yaml")
    assert pipeline.repro() == {"catalogue", "baselines", "runtime"} | AFTER_RERANKING


def test_an_edit_of_the_code_re_runs_what_imports_it(pipeline: Pipeline) -> None:
    for name in (MODULE, "pipeline/tracking.py"):
        path = pipeline.folder / name
        path.write_text(path.read_text() + "# changed\n")
    assert pipeline.repro() == {"rerank@tta", "rerank@ngram-3", "baselines"} | AFTER_RERANKING
    for name in FOLDERS:
        (pipeline.folder / name / "__pycache__").mkdir()
        (pipeline.folder / name / "__pycache__" / "any.pyc").touch()
    assert pipeline.repro() == set()
