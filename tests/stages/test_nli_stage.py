"""nli@<model>: rows of accuracy and of likeness, the papers' average, the control, and weights that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import stages.nli as stage
from pipeline.layout import MANIFEST, Layout
from pipeline.params import TaskEntry
from pipeline.task_sets import sets_of
from quartet.config.finetuning import NliSettings, RaceSettings, SquadSettings
from quartet.config.text import Source
from quartet.files import write_json
from quartet.results import Result, read_results
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli import data as nli
from quartet.tasks.nli.data import LABELS
from quartet.tasks.nli.metrics import AVERAGE, SEVEN, nli_sets
from quartet.tasks.nli.tuning import SiameseModel
from stages import baselines
from tests.scoring.test_language_model import Small, random_model, save
from tests.stages.world import evaluate_by
from tests.tasks.nli.test_tuning import toy

SEEDS = [11, 12]


def nli_lines(count: int, seed: int) -> str:
    rows = [
        {"premise": first, "hypothesis": second, "label": LABELS[label]}
        for first, second, label in toy(count, seed)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def sts_files() -> dict[str, dict[str, str]]:
    """The seven sets, a few pairs each."""
    pairs = toy(12, 3)
    rows = [f"{5 - 2 * label}\t{first}\t{second}\n" for first, second, label in pairs]
    csv = "".join(f"{first},{second},{5 - 2 * label}\n" for first, second, label in pairs)
    sick = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n" + "".join(
        f"{number}\t{first}\t{second}\t{5 - 2 * label}\tNEUTRAL\n"
        for number, (first, second, label) in enumerate(pairs)
    )
    years = {name: {"one.tsv": "".join(rows[:6]), "two.tsv": "".join(rows[6:])} for name in SEVEN[:5]}
    return {**years, "stsb": {"dev.csv": csv, "test.csv": csv}, "sick": {"test.txt": sick}}


def save_models(small_corpus: Small, **changes: Any) -> None:
    """The seeds of a small model."""
    for seed in SEEDS:
        model = random_model("segabert", small_corpus[0], dim=8 * (seed - 9), heads=1, **changes)
        folder = Layout("made-up").models / "segabert" / ("" if seed == SEEDS[0] else f"seed-{seed}")
        folder.mkdir(parents=True, exist_ok=True)
        model.card = type(model.card)(**{**vars(model.card), "seed": seed})
        save(model, folder)


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_corpus: Small) -> Any:
    """Two seeds of a small model, two sets of entailment to learn from, one of them absent, and the seven of STS."""
    monkeypatch.chdir(tmp_path)
    layout = Layout("made-up")
    save_models(small_corpus)
    files = {
        "snli": {"train.jsonl": nli_lines(48, 1), "dev.jsonl": nli_lines(30, 2)},
        "hans": {"test.txt": "the miller\tthe miller\t0\na letter\tthe river\t1\n"},
        **sts_files(),
    }
    tasks = {
        "mnli": TaskEntry(
            kind="nli", format="mnli", license="x", files={"train": Source(source="m.txt", sha256=None)}
        )
    }
    write_json(
        layout.task("nli", "mnli") / MANIFEST, {"available": False, "reason": "gone", "obtain": "there"}
    )
    for name, contents in files.items():
        kind = "nli" if name in ("snli", "hans") else "sts"
        form = "semeval" if name in SEVEN[:5] else name
        sources = {file.split(".")[0]: Source(source=file, sha256=None) for file in contents}
        tasks[name] = TaskEntry(kind=kind, format=form, license="x", files=sources)
        write_json(layout.task(kind, name) / MANIFEST, {})
        for file, text in contents.items():
            (layout.task(kind, name) / file).write_text(text)
    settings = NliSettings(
        sets=["snli", "mnli"], epochs=1, batch_size=16, learning_rate=1e-3, warmup=0.1, limit=32, max_length=20,
        random_control=True,
    )  # fmt: skip
    made = SimpleNamespace(
        experiment="made-up", seeds=SEEDS, threads=1, device="cpu", bootstrap=20, models={"segabert": None},
        tasks=tasks, nli=settings, corpora={}, tokenizers={}, nbest={}, word2vec=None,
        finetune=SimpleNamespace(folds=2), squad=SquadSettings(), race=RaceSettings(),
    )  # fmt: skip
    evaluate_by(made, monkeypatch)
    return made


def rows() -> list[Result]:
    return read_results(Layout("made-up").rows("nli", "segabert"))


def baseline_rows() -> list[Result]:
    baselines.baselines()
    return read_results(Layout("made-up").rows("baselines"))


def test_every_system_has_every_row_and_the_average_of_the_seven(params: Any) -> None:
    stage.nli("segabert")
    found = rows()
    accuracies = {(row.system, row.dataset, row.split, row.seed) for row in found if row.table == "nli"}
    judged = (("snli", "dev"), ("hans", "test"))
    assert accuracies == {
        (system, *where, seed)
        for system in ("segabert", "segabert/random")
        for where in judged
        for seed in SEEDS
    }
    likeness = {
        (row.system, row.dataset, row.metric) for row in found if row.table == "sts" and row.seed == 12
    }
    systems = [f"segabert/{reading}" for reading in ("untuned", "nli", "random-nli")]
    wanted = [*((name, "spearman") for name in SEVEN), (AVERAGE, "spearman-mean")]
    assert likeness == {(system, *each) for system in systems for each in wanted}
    for system in systems:
        values = {row.dataset: row.value for row in found if (row.system, row.seed) == (system, 11)}
        assert values[AVERAGE] == pytest.approx(sum(values[name] for name in SEVEN) / 7)
    assert {row.n for row in found if row.dataset == "sts14"} == {12}, "all sub-tasks at once"
    assert {row.device for row in found} == {"cpu"}
    scales = {row.system: row.scale for row in found}
    assert "tuned on 32 of 48 pairs of snli (epochs: 1)" in scales["segabert"]
    assert "0 steps" in scales["segabert/random"]
    assert "tuned" not in scales["segabert/untuned"]


def test_what_was_tuned_is_not_tuned_again(params: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.nli("segabert")
    before, folder = rows(), Layout("made-up").resume("nli/segabert", 12)
    kept = sorted(path.name for path in folder.iterdir())
    assert len(kept) == 2, "the model's and the control's"
    with monkeypatch.context() as patch:
        patch.setattr(SiameseModel, "loss", None)  # nothing may be trained
        stage.nli("segabert")
    assert rows() == before
    params.nli = NliSettings(**{**vars(params.nli), "epochs": 2, "random_control": False})
    stage.nli("segabert")
    assert len(list(folder.iterdir())) == 1
    assert not set(kept) & {path.name for path in folder.iterdir()}


def test_another_model_is_tuned_again(params: Any, small_corpus: Small) -> None:
    params.nli = NliSettings(**{**vars(params.nli), "random_control": False})
    folder = Layout("made-up").resume("nli/segabert", 12)
    stage.nli("segabert")
    (first,) = folder.iterdir()
    save_models(small_corpus, init_std=0.2)
    stage.nli("segabert")
    (second,) = folder.iterdir()
    assert first != second


def test_without_one_of_the_seven_there_is_no_average(params: Any) -> None:
    del params.tasks["sts13"]
    stage.nli("segabert")
    assert not [row for row in rows() if row.dataset in (AVERAGE, "sts13")]


def test_without_a_training_set_nothing_is_measured(params: Any) -> None:
    params.nli = NliSettings(**{**vars(params.nli), "sets": ["mnli"]})
    stage.nli("segabert")
    assert rows() == []
    assert baseline_rows() == []


def test_without_a_task_of_the_kind_there_are_no_baselines(params: Any) -> None:
    params.tasks = {name: task for name, task in params.tasks.items() if task.kind != "nli"}
    assert params.nli.sets
    assert baseline_rows() == []


def test_the_baselines_learn_from_the_same_pairs(params: Any) -> None:
    run = Evaluation("made-up", "nli", samples=20, seed=11)
    read = dict(sets_of(nli.KIND, params, Layout("made-up")))
    assert len(nli_sets(run, read, params.nli).train) == 32
    found = baseline_rows()
    assert {row.table for row in found} == {"nli"}
    assert {(row.system, row.dataset, row.n) for row in found} == {
        (system, *each) for system in ("majority", "bag-of-words") for each in (("snli", 30), ("hans", 2))
    }
    assert {row.scale for row in found} == {"trained on 32 of 48 pairs of snli"}
