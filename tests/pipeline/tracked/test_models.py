"""Trained models in MLflow: opened by mlflow.pyfunc, kept once, with everything that they were made of."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

import quartet
from pipeline.layout import Layout
from pipeline.mlflow_store import open_store
from pipeline.params import Params, load
from pipeline.results import rows_of
from pipeline.tracked.models import EXAMPLE
from pipeline.tracking import stage_run, sync, tell_noted
from quartet.files import write_json
from quartet.results import Measure, write_results
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model, save

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.fixture
def params(workspace: Path) -> Params:
    """The settings of tiny under an experiment that no other test has."""
    path = workspace / "params.yaml"
    path.write_text(
        path.read_text().replace("experiment: tiny", f"experiment: models-{uuid.uuid4().hex[:8]}")
    )
    return load()


def train(params: Params, tokenizer: TextTokenizer, **changes: Any) -> Path:
    """What pretrain@tta leaves."""
    layout = Layout(params.experiment)
    folder = layout.model("tta", params, params.seeds[0])
    folder.mkdir(parents=True, exist_ok=True)
    save(random_model("tta", tokenizer, **changes), folder)
    write_results(layout.rows("pretrain", "tta"), [])
    layout.curve("tta").parent.mkdir(parents=True, exist_ok=True)
    layout.curve("tta").write_text("seed,step,loss\n1,15,6.5\n")
    return folder


def test_a_trained_model_is_registered_and_scores_texts(params: Params, small_corpus: Small) -> None:
    import mlflow

    folder = train(params, small_corpus[0])
    with stage_run(params, "pretrain", "tta") as run:
        pass
    client = open_store(params.experiment).client
    (version,) = client.search_model_versions(f"name = '{params.experiment}.tta'")
    assert version.run_id == run.id
    assert {key: version.tags[key] for key in ("objective", "positions", "preset", "seed")} == {
        "objective": "lae",
        "positions": "sequence",
        "preset": params.experiment,
        "seed": "1",
    }
    loaded = mlflow.pyfunc.load_model(f"models:/{params.experiment}.tta/1")
    ours = quartet.load(folder)
    for texts in (EXAMPLE, pd.DataFrame({"text": EXAMPLE})):
        found = loaded.predict(texts)
        assert list(found["score"]) == ours.score(EXAMPLE)
        assert list(found["tokens"]) == [len(ours.tokenizer.encode(text)) for text in EXAMPLE]
    assert loaded.metadata.signature is not None
    assert list(loaded.input_example["text"]) == EXAMPLE
    (logged,) = client.search_logged_models([open_store(params.experiment).experiment])
    assert logged.params["models.layers"] == "1"
    assert logged.source_run_id == run.id
    kept = {path.name for path in Path(logged.artifact_location.removeprefix("file://")).rglob("*")}
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= kept
    assert "best.safetensors" not in kept, "only the weights that config.json names"
    assert not [name for name in kept if name.endswith(".pkl")]


def test_a_model_is_kept_once_and_another_training_is_another_version(
    params: Params, small_corpus: Small
) -> None:
    train(params, small_corpus[0])
    assert sync(params) == ["pretrain/tta"]
    with stage_run(params, "pretrain", "tta"):
        pass
    client = open_store(params.experiment).client
    assert len(client.search_logged_models([open_store(params.experiment).experiment])) == 1
    train(params, small_corpus[0], init_std=0.1)
    with stage_run(params, "pretrain", "tta"):
        pass
    versions = client.search_model_versions(f"name = '{params.experiment}.tta'")
    assert {str(version.version) for version in versions} == {"1", "2"}


def test_what_a_stage_reads_is_a_dataset_of_its_run(params: Params) -> None:
    layout = Layout(params.experiment)
    manifest = {"dev": {"lists": 3}, "test": {"lists": 4}}
    write_json(layout.nbest("sample-speech") / "manifest.json", manifest)
    with stage_run(params, "combine"):
        write_results(layout.rows("combine"), [])
    store = open_store(params.experiment)
    tell_noted(store, params)
    (run,) = store.client.search_runs([store.experiment])
    inputs = run.inputs.dataset_inputs
    found = {each.dataset.name: each for each in inputs}
    assert set(found) == {"sample-speech dev", "sample-speech test"}
    assert found["sample-speech dev"].tags[0].value == "dev"
    assert '"lists": 3' in found["sample-speech dev"].dataset.profile


def test_each_system_has_a_run_with_all_its_results(params: Params) -> None:
    def row(table: str, system: str, metric: str, value: float, dataset: str = "lee") -> Any:
        measure = {metric: Measure(value, 100, value - 0.1, value + 0.1)}
        names = {"table": table, "system": system, "dataset": dataset, "split": "test"}
        return rows_of(measure, params=params, device="cpu", scale="s", seed=1, **names)

    rows = [
        *row("rerank", "first-pass", "wer", 22.0),
        *row("sts", "tta/context", "pearson", 0.5),
        *row("rerank", "tta", "wer", 21.000000001),
        *row("rerank-pairs", "tta - first-pass", "wer-difference", 1.0),
        *row("race", "tta", "accuracy", 0.25),
    ]
    sync(params, rows)
    sync(params, rows)
    store = open_store(params.experiment)
    found = {run.info.run_name: run for run in store.client.search_runs([store.experiment])}
    assert set(found) == {"tta", "first-pass"}
    assert len(store.client.search_runs([store.experiment])) == 2, "nothing twice"
    tta = found["tta"]
    assert tta.data.metrics == {
        "rerank/lee/test/wer": 21.0,
        "sts/lee/test/pearson/context": 0.5,
        "race/lee/test/accuracy": 0.25,
    }
    assert (tta.data.tags["stage"], tta.data.tags["objective"]) == ("model", "lae")
    assert tta.data.params["models.layers"] == "1"
    tags = store.client.get_experiment(store.experiment).tags
    columns = ["rerank/lee/test/wer", "sts/lee/test/pearson/context", "race/lee/test/accuracy"]
    state = json.loads(tags["mlflow.sharedViewState.models"])
    assert state["searchFilter"] == "tags.stage = 'model'"
    assert state["selectedColumns"] == [
        *("tags.`objective`", "tags.`positions`"),
        *(f"metrics.`{name}`" for name in columns),
    ]
    assert (
        "| `tta` | lae | sequence | 21 [20.9, 21.1] | 0.5 [0.4, 0.6] | 0.25 [0.15, 0.35] |"
        in (tags["mlflow.note.content"])
    )
    sync(params, [*rows[:-1], *row("race", "tta", "accuracy", 0.3)])
    assert len(store.client.search_runs([store.experiment])) == 3, "only tta is new"
