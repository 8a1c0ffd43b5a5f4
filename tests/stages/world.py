"""A small world for tests of what stages hand on: settings, models with random weights, sets of a few lines.

The stages run as DVC runs them, but for MLflow, which is told nothing.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import evaluation
from pipeline.evaluation import StageEvaluation
from pipeline.judged_lists import judged_lists
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.stages import STAGES, instances
from pipeline.tracking.stage import StageRun, Stopwatch
from quartet.config.loading import read_yaml
from quartet.data.batch import Batch
from quartet.files import sha256, write_json
from quartet.models.checkpoint import save_model
from quartet.results import Result, read_results
from quartet.scoring.language_model import LanguageModel
from quartet.statistics.outcomes import write_outcomes
from quartet.tasks.baselines import first_pass_and_oracle as add_first_pass_and_oracle
from quartet.text.encoded_corpus import EncodedCorpus, split_manifest
from quartet.text.encoding import encode_corpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import tuning
from quartet.training.tuning import TuningSettings
from tests.scoring.test_language_model import random_model
from tests.settings import change_settings

#: Of the preset tiny.
CORPUS, TOKENIZER_NAME = "wikipedia-sample", "wordpiece-1k"
LAYOUT = Layout("tiny")


@dataclass(frozen=True)
class Tuned:
    """What a stage asked to be tuned."""

    task: Any
    examples: list[Any]
    settings: TuningSettings

    @property
    def inputs(self) -> Batch:
        """All examples as one batch."""
        batch: Batch = self.task.batch(self.examples).batch
        return batch


@dataclass
class World:
    """The preset tiny in a folder of its own, without sets."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    tokenizer: TextTokenizer
    splits: dict[str, EncodedCorpus]

    def set(self, **keys: Any) -> None:
        """As :func:`change_settings`, with two underscores for a dot."""
        change_settings(
            self.folder / "params.yaml", {key.replace("__", "."): value for key, value in keys.items()}
        )

    def settings(self) -> Any:
        """params.yaml as plain data."""
        return read_yaml(self.folder / "params.yaml")

    def corpus(self, test_documents: int | None = None) -> Path:
        """The small corpus as the corpus of the settings; returns the folder of its encoding.

        Args:
            test_documents: how many its test split has; None: all four.
        """
        origin = self.splits["train"].origin
        assert origin is not None
        kept = origin.folder.parent / f"world-{test_documents}"  # the same for every test
        if not kept.exists():
            shutil.copytree(origin.folder.parent / "segments", kept / "segments")
            test = kept / "segments" / "test.jsonl"
            lines = test.read_text(encoding="utf-8").splitlines(keepends=True)
            test.write_text("".join(lines[:test_documents]), encoding="utf-8")
            encode_corpus(kept / "segments", self.tokenizer, kept / "encoded")
        segments, encoded = LAYOUT.segments(CORPUS), LAYOUT.encoded(CORPUS, TOKENIZER_NAME)
        shutil.copytree(kept / "segments", segments)
        shutil.copytree(kept / "encoded", encoded)
        target = LAYOUT.tokenizer(TOKENIZER_NAME)
        target.mkdir(parents=True)
        self.tokenizer.save(target / "tokenizer.json")
        return encoded

    def model(self, name: str, kind: str, seed: int = 1, **changes: Any) -> LanguageModel:
        """A model with random weights, of the corpus that is there; another seed has other weights."""
        made = random_model(kind, self.tokenizer, **{"init_std": 0.3 + 0.05 * seed, **changes})
        manifest = split_manifest(LAYOUT.encoded(CORPUS, TOKENIZER_NAME), "train")
        encoding = sha256(manifest) if manifest.is_file() else ""
        made.card = replace(made.card, name=name, seed=seed, encoding=encoding)
        folder = LAYOUT.model(name, read_params(), seed)
        folder.mkdir(parents=True, exist_ok=True)
        state = made.network.state_dict()
        save_model(folder, {"last": state, "best": state}, made.card, self.tokenizer)
        return made

    def task(self, kind: str, name: str, form: str | None, files: Mapping[str, str]) -> None:
        """A set of the settings, whose files are called as their roles."""
        sources = {file.split(".")[0]: {"source": file, "sha256": None} for file in files}
        task = {"kind": kind, "license": "made up", "files": sources}
        change_settings(
            self.folder / "params.yaml", {f"tasks.{name}": task if form is None else {**task, "format": form}}
        )
        write_json(LAYOUT.task(kind, name) / MANIFEST, {})
        for file, text in files.items():
            (LAYOUT.task(kind, name) / file).write_text(text, encoding="utf-8")

    def run(self, stage: str, *arguments: str) -> list[Result]:
        """The rows that a stage leaves."""
        self.start(stage, *arguments)
        found = read_results(LAYOUT.rows(stage.replace("_", "-"), "-".join(arguments)))
        assert {row.device for row in found} <= {"cpu"}, "and not what stands beside it"
        return found

    def moved(
        self, run: Callable[[], Any], base: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What comes out with the keys of `base`, under "", and with each of the changes alone, under its key."""
        found = {}
        for key, value in {"": None, **changes}.items():
            self.set(**{**base, **({key: value} if key else {})})
            found[key] = run()
        return found

    def tunings(self, stage: str) -> list[Tuned]:
        """Fills as a stage tunes, which trains nothing then: what is tuned stays as it was."""
        importlib.import_module(f"stages.{stage}")
        found: list[Tuned] = []

        def noted(
            task: Any, examples: Any, settings: TuningSettings, after_epoch: Any = None, progress: Any = None
        ) -> None:
            task.eval()
            found.append(Tuned(task, list(examples), settings))
            for epoch in range(settings.epochs if after_epoch else 0):
                after_epoch(epoch + 1)

        original = tuning.tune
        for module in list(sys.modules.values()):
            if getattr(module, "tune", None) is original:
                self.monkeypatch.setattr(module, "tune", noted)
        return found

    def start(self, stage: str, *arguments: str) -> None:
        """Run the script of a stage."""
        module = importlib.import_module(f"stages.{stage}")
        self.monkeypatch.setattr(
            module if hasattr(module, "stage_run") else evaluation, "stage_run", unwatched
        )
        names = {"combine": "combine_pairs", "compare": "compare_systems"}
        getattr(module, names.get(stage, stage))(*arguments)


def nothing_judged(params: Params) -> None:
    """No outcomes of any system on a set, for a stage that compares what has reranked."""
    for stage, variant in instances(params):
        if STAGES[stage].sets:
            write_outcomes(Layout(params.experiment).outcomes(stage, variant), ())


@contextmanager
def unwatched(params: Any, stage: str, variant: str = "", **_: object) -> Iterator[StageRun]:
    """In the place of `stage_run`: MLflow is told nothing, and no record is written."""
    yield StageRun(Stopwatch(Layout(params.experiment), stage, variant), None)


def evaluate_by(params: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stages that evaluate have these settings, which need not be whole, and tell MLflow nothing."""
    monkeypatch.setattr(evaluation, "load", lambda: params)
    monkeypatch.setattr(evaluation, "stage_run", unwatched)
    if not isinstance(params, Params):  # what is tuned is named by what there is of them
        for stage in ("glue", "nli", "squad", "race"):
            monkeypatch.setattr(
                f"stages.{stage}.decisive_settings", lambda found, name, _: repr(getattr(found, name))
            )


def at_work(params: Params, table: str = "") -> StageEvaluation:
    """A part of a stage at work, for its rows."""
    layout = Layout(params.experiment)
    return StageEvaluation(params, layout, table, StageRun(Stopwatch(layout, "none"), None))


def first_pass_and_oracle(params: Params) -> list[Result]:
    """The rows that ``baselines`` has of reranking."""
    run = at_work(params)
    for name in params.nbest:
        splits = judged_lists(params, run.layout, name)
        add_first_pass_and_oracle(run, name, splits, params.rerank.lengths)
    return run.rows


def values(rows: list[Result], table: str, metric: str) -> dict[tuple[str, str, str], float]:
    """By system, set and split."""
    return {
        (row.system, row.dataset, row.split): row.value
        for row in rows
        if (row.table, row.metric) == (table, metric)
    }


def all_different(found: Mapping[str, Any]) -> None:
    """Raise AssertionError where a key that was changed moved nothing."""
    same = [key for key, value in found.items() if key and value == found[""]]
    assert not same, f"moved nothing: {same}"
