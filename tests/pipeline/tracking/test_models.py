"""Trained models in MLflow: opened by mlflow.pyfunc, kept once, with everything that they were made of."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

import quartet
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.tracking.mlflow import clone, open_store
from pipeline.tracking.models import CONTENT, EXAMPLE, content_of, find, log_trained
from pipeline.tracking.runs import report_rows, tell
from pipeline.tracking.stage import stage_run
from pipeline.tracking.summary import differing, settings_of, show_present, view_name
from pipeline.ui import ui
from quartet.files import read_jsonl, write_json
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from stages.settings import settings
from tests.named import named
from tests.scoring.test_language_model import random_model, save

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.fixture
def params(workspace: Path) -> Params:
    """The settings of tiny under an experiment that no other test has."""
    path = workspace / "params.yaml"
    path.write_text(
        path.read_text().replace("experiment: tiny", f"experiment: models-{uuid.uuid4().hex[:8]}")
    )
    return read_params()


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
    with stage_run(params, "pretrain", "tta"):
        pass
    store = open_store(params.experiment)
    client = store.client
    (run,) = client.search_runs([store.experiment])
    (version,) = client.search_model_versions(f"name = '{params.experiment}.tta'")
    assert version.run_id == run.info.run_id
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
    assert logged.source_run_id == run.info.run_id
    kept = {path.name for path in Path(logged.artifact_location.removeprefix("file://")).rglob("*")}
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= kept
    assert "best.safetensors" not in kept, "only the weights that config.json names"
    assert not [name for name in kept if name.endswith(".pkl")]


def test_a_model_is_kept_once_and_another_training_is_another_version(
    params: Params, small_corpus: Small
) -> None:
    train(params, small_corpus[0])
    assert tell(params) == ["pretrain/tta"]
    with stage_run(params, "pretrain", "tta"):
        pass
    client = open_store(params.experiment).client
    assert len(client.search_logged_models([open_store(params.experiment).experiment])) == 1
    train(params, small_corpus[0], init_std=0.1)
    with stage_run(params, "pretrain", "tta"):
        pass
    versions = client.search_model_versions(f"name = '{params.experiment}.tta'")
    assert {str(version.version) for version in versions} == {"1", "2"}


def test_a_model_that_was_not_written_to_its_end_is_not_found(params: Params) -> None:
    store = open_store(params.experiment)
    run_id = store.create("pretrain/tta", {})
    model = store.client.create_logged_model(store.experiment, "tta", run_id, tags={CONTENT: "abc"})
    assert find(store, "tta", "abc") is None
    store.client.finalize_logged_model(model.model_id, "READY")
    assert find(store, "tta", "abc") == model.model_id
    assert find(store, "tta", "abd") is None


def test_the_results_of_a_model_are_its_own_and_its_runs(params: Params) -> None:
    store = open_store(params.experiment)
    run_id = store.create("pretrain/tta", {})
    model = store.client.create_logged_model(store.experiment, "tta", run_id)
    store.client.finalize_logged_model(model.model_id, "READY")
    store.metrics(run_id, [("loss", 2.5, 0)], model.model_id)
    store.metrics(run_id, [("pearson", 0.5, 0)])
    found = store.client.get_logged_model(model.model_id).metrics or []
    assert [(one.key, one.value) for one in found] == [("loss", 2.5)]
    assert store.client.get_run(run_id).data.metrics == {"loss": 2.5, "pearson": 0.5}


def test_a_run_has_all_of_many_settings_and_keeps_those_that_it_had(params: Params) -> None:
    """MLflow takes a hundred in one call."""
    store = open_store(params.experiment)
    run_id = store.create("pretrain/tta", {})
    settings = {f"key-{number}": str(number) for number in range(250)}
    store.params(run_id, {"key-7": "7"})
    store.params(run_id, settings)
    assert store.client.get_run(run_id).data.params == settings


def test_the_content_of_a_model_is_all_that_is_kept_of_it(tmp_path: Path) -> None:
    files = ("config.json", "tokenizer.json", "model.safetensors", "best.safetensors")
    for name in files:
        (tmp_path / name).write_text(name)
    write_json(tmp_path / "config.json", {"training": {"weights": "last"}})
    found = [content_of(tmp_path)]
    for name in files[1:]:
        (tmp_path / name).write_text("another")
        found.append(content_of(tmp_path))
    write_json(tmp_path / "config.json", {"training": {"weights": "last"}, "name": "other"})
    found.append(content_of(tmp_path))
    assert found[2] == found[3], "the other weights"
    assert len(set(found)) == 4


def test_what_a_stage_reads_is_a_dataset_of_its_run(params: Params) -> None:
    layout = Layout(params.experiment)
    manifest = {"dev": {"lists": 3}, "test": {"lists": 4}}
    write_json(layout.nbest("sample-speech") / "manifest.json", manifest)
    with stage_run(params, "combine"):
        write_results(layout.rows("combine"), [])
    took = [row["name"] for _, row in read_jsonl(layout.timing("combine"))]
    assert took == ["start-up", "total"], "it tells MLflow nothing itself"
    tell(params)
    store = open_store(params.experiment)
    (run,) = store.client.search_runs([store.experiment], "tags.stage = 'combine'")
    inputs = run.inputs.dataset_inputs
    found = {each.dataset.name: each for each in inputs}
    assert set(found) == {"sample-speech dev", "sample-speech test"}
    assert found["sample-speech dev"].tags[0].value == "dev"
    assert '"lists": 3' in found["sample-speech dev"].dataset.profile


def row(
    params: Params,
    table: str,
    system: str,
    metric: str,
    value: float,
    dataset: str = "lee",
    seed: int = 1,
    split: str = "test",
) -> list[Result]:
    """One figure with its interval."""
    measure = {metric: Measure(value, 100, value - 0.1, value + 0.1)}
    evaluated = EvaluatedSystem(**named(system), device="cpu", scale="s", seed=seed)
    return evaluated.rows(measure, experiment=params.experiment, table=table, dataset=dataset, split=split)


def rows_in_mlflow(params: Params) -> dict[str, Any]:
    """The rows of the systems by their names, those that the view shows first."""
    store = open_store(params.experiment)
    tags = store.client.get_experiment(store.experiment).tags
    wanted = json.loads(tags[f"mlflow.sharedViewState.{view_name()}"])["searchFilter"]
    runs = store.client.search_runs([store.experiment], wanted)
    return {run.info.run_name: run for run in runs}


def edited(params: Params, old: str, new: str) -> Params:
    """The settings after an edit of params.yaml, and those alone."""
    path = Path("params.yaml")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    return read_params()


def test_each_system_has_a_run_with_all_its_results(params: Params) -> None:
    rows = [
        *row(params, "rerank", "first-pass", "wer", 22.0),
        *row(params, "sts", "tta/context", "pearson", 0.5),
        *row(params, "rerank", "tta", "wer", 21.000000001),
        *row(params, "rerank-pairs", "tta - first-pass", "wer-difference", 1.0),
        *row(params, "race", "tta", "accuracy", 0.25),
        *row(params, "training", "tta", "loss", 3.0, split="valid"),
        *row(params, "nli", "tta", "pearson", 0.75),
    ]
    curve = Layout(params.experiment).curve("tta")
    curve.parent.mkdir(parents=True)
    curve.write_text("seed,step,loss\n1,15,6.5\n1,30,6.25\n")
    tell(params, rows)
    tell(params, rows)
    store = open_store(params.experiment)
    found = rows_in_mlflow(params)
    assert set(found) == {"tta", "first-pass"}
    assert len(store.client.search_runs([store.experiment])) == 2, "nothing twice"
    tta = found["tta"]
    assert tta.data.metrics == {
        "wer lee": 21.0,
        "pearson context lee": 0.5,
        "accuracy lee": 0.25,
        "loss lee valid training": 3.0,
        "pearson lee nli": 0.75,
        "validation_loss/seed-1": 6.25,
    }
    history = store.client.get_metric_history(tta.info.run_id, "validation_loss/seed-1")
    assert [(point.step, point.value) for point in history] == [(15, 6.5), (30, 6.25)]
    assert (tta.data.tags["stage"], tta.data.tags["objective"]) == ("model", "lae")
    assert tta.data.params["models.layers"] == "1"
    tags = store.client.get_experiment(store.experiment).tags
    columns = ["wer lee", "pearson context lee", "accuracy lee"]
    state = json.loads(tags[f"mlflow.sharedViewState.{view_name()}"])
    assert state["selectedColumns"] == [
        *("tags.`objective`", "tags.`positions`"),
        *(f"metrics.`{name}`" for name in columns),
    ]
    assert (
        "| `tta` | lae | sequence | 21 [20.9, 21.1] | 0.5 [0.4, 0.6] | 0.25 [0.15, 0.35] |"
        in (tags["mlflow.note.content"])
    )
    tell(params, [*rows[:-1], *row(params, "nli", "tta", "pearson", 0.3)])
    assert len(store.client.search_runs([store.experiment])) == 3, "only tta is new"


def test_two_tables_with_one_metric_on_one_set_are_told_apart(params: Params) -> None:
    rows = [*row(params, "sts", "tta", "pearson", 0.5), *row(params, "glue", "tta", "pearson", 0.25)]
    tell(params, rows)
    assert rows_in_mlflow(params)["tta"].data.metrics == {"pearson lee sts": 0.5, "pearson lee glue": 0.25}


def test_the_mean_over_seeds_is_the_metric_and_each_seed_stands_beside_it(params: Params) -> None:
    params = edited(params, "seeds: [1]", "seeds: [1, 2, 3]")
    values = {1: 0.25, 2: 0.5, 3: 0.75}
    rows = [
        one
        for seed, value in values.items()
        for one in row(params, "sts", "tta", "pearson", value, seed=seed)
    ]
    tell(params, rows)
    metrics = {
        "pearson lee": 0.5,
        "pearson lee seed-1": 0.25,
        "pearson lee seed-2": 0.5,
        "pearson lee seed-3": 0.75,
    }
    assert rows_in_mlflow(params)["tta"].data.metrics == metrics


def test_the_view_shows_the_present_state_and_names_what_another_one_had(params: Params) -> None:
    """An edit, one of an evaluation, both taken back, and a removed model: the rows of the report, no other."""
    store = open_store(params.experiment)

    def names() -> set[str]:
        return {run.info.run_name or "" for run in store.client.search_runs([store.experiment])}

    def told(settings: Params, wer: float) -> str:
        tell(
            settings,
            [*row(settings, "rerank", "tta", "wer", wer), *row(settings, "rerank", "oracle", "wer", 1.0)],
        )
        found = rows_in_mlflow(settings)
        assert set(found) == {"tta", "oracle"}
        assert found["tta"].data.metrics == {"wer lee": wer}
        return str(found["tta"].info.run_id)

    first = told(params, 21.0)
    text = Path("params.yaml").read_text()
    told(edited(params, "layers: 1", "layers: 2"), 20.0)
    assert names() == {"tta", "oracle", "layers=1 tta"}
    Path("params.yaml").write_text(text)
    meant = edited(params, "score: sum", "score: mean")
    told(meant, 21.0)  # the same figure with other settings
    assert names() == {"tta", "oracle", "rerank.score=sum tta", "layers=2 rerank.score=sum tta"}
    now = rows_in_mlflow(meant)["tta"].data.params
    had = store.client.get_run(first).data.params
    assert {key for key in now if now[key] != had[key]} == {"rerank.score"}
    Path("params.yaml").write_text(text)
    assert told(read_params(), 21.0) == first, "a change taken back shows the row that was"
    assert names() == {"tta", "oracle", "rerank.score=mean tta", "layers=2 tta"}
    tell(read_params(), row(params, "rerank", "oracle", "wer", 1.0))
    assert set(rows_in_mlflow(read_params())) == {"oracle"}


def test_a_name_has_as_little_of_a_setting_as_tells_it() -> None:
    had = {"models.training.steps": "600", "squad.epochs": "2", "race.epochs": "3", "seeds": "[1]"}
    now = {**had, "models.training.steps": "900"}
    assert differing(had, now) == ["steps=600"]
    assert differing(had, {**had, "squad.epochs": "4"}) == ["squad.epochs=2"]
    assert differing(had, dict.fromkeys(had, "")) == ["steps=600", "squad.epochs=2", "..."]
    assert differing(had, had) == []


def written(params: Params, wer: float) -> None:
    """The report of tta with a WER, as git would bring it back, without telling MLflow."""
    write_results(Layout(params.experiment).results, row(params, "rerank", "tta", "wer", wer))


def ran(params: Params, wer: float) -> None:
    """A `dvc repro` that ends in this report."""
    written(params, wer)
    tell(params, report_rows(params))


def found_by(params: Params, wanted: str) -> dict[str, str]:
    """The layers of the rows of tta that a filter lets through, by their names."""
    store = open_store(params.experiment)
    runs = store.client.search_runs([store.experiment], f"tags.system = 'tta' and {wanted}")
    return {run.info.run_name or "": run.data.params["models.layers"] for run in runs}


def filter_of(said: str) -> str:
    """What `pipeline.ui` says is the filter of the present rows."""
    (line,) = [line for line in said.splitlines() if line.startswith("their filter: ")]
    return line.removeprefix("their filter: ")


def test_who_asks_is_shown_the_state_that_git_brought_back(
    params: Params, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever ran last, here another number of layers, and though nothing has run since."""
    ran(params, 21.0)
    ui("5001")
    first = filter_of(capsys.readouterr().out)
    text = Path("params.yaml").read_text()
    ran(edited(params, "layers: 1", "layers: 2"), 20.0)
    assert rows_in_mlflow(params)["tta"].data.params["models.layers"] == "2"
    Path("params.yaml").write_text(text)
    written(params, 21.0)
    assert found_by(params, first) == {"layers=1 tta": "1"}, "a state's rows need nobody to ask"
    ui("5001")
    said = capsys.readouterr().out
    assert filter_of(said) == first and said.splitlines()[0].endswith(f"&viewStateShareKey={view_name()}")
    assert rows_in_mlflow(params)["tta"].data.params["models.layers"] == "1"
    assert found_by(params, "tags.stage = 'model'") == {"tta": "1", "layers=2 tta": "2"}
    tags = open_store(params.experiment).client.get_experiment(open_store(params.experiment).experiment).tags
    assert f"`{first}`" in tags["mlflow.note.content"]


def test_results_that_mlflow_has_no_row_of_are_said_to_be_none(
    params: Params, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(params, 21.0)
    for change in (lambda: written(params, 20.0), lambda: edited(params, "score: sum", "score: mean")):
        change()
        ui("5001")
        said = capsys.readouterr().out
        assert "No row of MLflow is of" in said and "viewStateShareKey" not in said
        assert rows_in_mlflow(params)["tta"].data.metrics == {"wer lee": 21.0}, "nothing is changed"
        written(params, 21.0)


def test_every_row_of_a_sweep_has_its_experiment_and_one_filter_finds_them(
    params: Params, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cell is equal to an earlier state, one to that of the repository, which stays as it is."""
    text = Path("params.yaml").read_text()
    ran(params, 21.0)
    ran(edited(params, "layers: 1", "layers: 2"), 20.0)
    for number, wer in ((1, 21.0), (2, 20.0), (6, 19.0), (7, 18.0)):
        copy = workspace / ".dvc" / "tmp" / "exps" / f"tmp{number}"
        copy.mkdir(parents=True)
        monkeypatch.chdir(copy)
        monkeypatch.setenv("DVC_EXP_NAME", f"sweep-{number}")
        Path("params.yaml").write_text(text.replace("layers: 1", f"layers: {number}", 1))
        ran(read_params(), wer)
    monkeypatch.chdir(workspace)
    monkeypatch.delenv("DVC_EXP_NAME")
    assert rows_in_mlflow(params)["tta"].data.params["models.layers"] == "2", "no copy is the repository"
    names = {"tta": "2", "layers=1 tta": "1", "layers=6 tta": "6", "layers=7 tta": "7"}
    assert found_by(params, "tags.`dvc.experiment` LIKE 'sweep-%'") == names
    assert found_by(params, "tags.`dvc.experiment` = 'sweep-6'") == {"layers=6 tta": "6"}
    copy = workspace / ".dvc" / "tmp" / "exps" / "tmp6"
    for name in ("params.yaml", str(Layout(params.experiment).results)):  # `dvc exp apply sweep-6`
        Path(name).write_bytes((copy / name).read_bytes())
    assert show_present(read_params())
    assert rows_in_mlflow(params)["tta"].data.params["models.layers"] == "6"


def test_an_experiment_that_equals_the_repository_has_its_row_though_no_report_runs(
    params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dvc exp run -S` writes params.yaml in its own way, so that `settings` runs, and then nothing else."""
    ran(params, 21.0)
    monkeypatch.setenv("DVC_EXP_NAME", "same")
    settings()
    assert found_by(params, "tags.dvc.experiment = 'same'") == {"tta": "1"}
    monkeypatch.setenv("DVC_EXP_NAME", "other")
    edited(params, "layers: 1", "layers: 2")
    settings()
    assert found_by(params, "tags.dvc.experiment LIKE '%other%'") == {}, "its report is to come"


def test_two_experiments_with_one_row_are_both_in_it(params: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second", "first"):
        monkeypatch.setenv("DVC_EXP_NAME", name)
        ran(params, 21.0)
    for name in ("first", "second"):
        assert set(found_by(params, f"tags.`dvc.experiment` LIKE '%{name}%'")) == {"tta"}


def test_two_clones_at_one_server_are_told_apart(
    params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same settings with other figures, as on another processor: each clone has its view, of its own rows."""
    here, there = tmp_path / "here", tmp_path / "there"
    pages = {}
    for folder, wer in ((here, 21.0), (there, 20.0)):
        folder.mkdir()
        (folder / "params.yaml").write_bytes((tmp_path / "params.yaml").read_bytes())
        monkeypatch.chdir(folder)
        ran(params, wer)
        ui("5001")
        pages[folder] = capsys.readouterr().out
    assert pages[here] != pages[there]
    for folder, wer in ((here, 21.0), (there, 20.0)):
        monkeypatch.chdir(folder)
        (run,) = rows_in_mlflow(params).values()
        assert run.data.metrics == {"wer lee": wer} and run.data.tags["clone"].endswith(f":{folder}")
    assert set(found_by(params, "tags.stage = 'model'")) == {
        "tta",
        f"clone={clone()} tta".replace("there", "here"),
    }


def test_a_row_has_no_more_states_than_mlflow_keeps_of_a_tag(
    params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.tracking.summary.LONGEST", 17)  # two names and the space between
    both = [row(params, "rerank", "oracle", "wer", 1.0), row(params, "rerank", "tta", "wer", 1.0)]
    states = []
    for wer in (21.0, 20.0, 19.0):
        tell(params, [*both[0], *row(params, "rerank", "tta", "wer", wer)])
        states.append(rows_in_mlflow(params)["tta"].data.tags["states"])
    assert rows_in_mlflow(params)["oracle"].data.tags["states"] == " ".join(states[1:])


def test_a_model_whose_files_were_deleted_is_there_again_after_the_next_report(
    params: Params, small_corpus: Small
) -> None:
    """`rm -rf mlruns`: the versions in the registry open again, and the runs have their files."""
    import mlflow

    folder = train(params, small_corpus[0])
    tell(params)
    store = open_store(params.experiment)
    place = Path(store.client.get_experiment(store.experiment).artifact_location.removeprefix("file://"))
    shutil.rmtree(place)
    with pytest.raises(Exception, match=r"No such|not exist"):
        mlflow.pyfunc.load_model(f"models:/{params.experiment}.tta/1")
    assert tell(params) == []
    loaded = mlflow.pyfunc.load_model(f"models:/{params.experiment}.tta/1")
    assert list(loaded.predict(EXAMPLE)["score"]) == quartet.load(folder).score(EXAMPLE)
    assert len(store.client.search_model_versions(f"name = '{params.experiment}.tta'")) == 1
    (run,) = store.client.search_runs([store.experiment], "tags.stage = 'pretrain'")
    assert {file.path for file in store.client.list_artifacts(run.info.run_id)} == {"tta.csv", "tta.jsonl"}
    assert len(run.outputs.model_outputs) == 1


def test_a_training_that_was_killed_after_its_model_was_logged_goes_on(
    params: Params, small_corpus: Small
) -> None:
    train(params, small_corpus[0])
    store = open_store(params.experiment)
    run_id = store.create("pretrain/tta", {})
    folder = Layout(params.experiment).model("tta", params, 1)
    logged = [log_trained(store, run_id, params, "tta", 1, folder) for _ in range(2)]
    assert logged[0] == logged[1]


def test_a_row_has_all_settings_that_its_figures_depend_on(params: Params) -> None:
    found = settings_of(params, "tta")
    assert {"models.layers", "rerank.score", "squad.epochs", "tokenizers.wordpiece-1k.vocab_size"} <= set(
        found
    )
    assert {"corpora.wikipedia-sample.limit", "nbest.sample-speech.format", "seeds"} <= set(found)
    assert not [key for key in found if key.startswith(("trainer", "workers", "ngrams"))]
    assert not [key for key in found if key.endswith("license")]
    assert "models.layers" not in settings_of(params, "oracle") and "ngrams.order" in settings_of(
        params, "ngram-3"
    )
