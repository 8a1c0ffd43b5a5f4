"""squad@<model>, race@<model> and attention@<model>: rows, predictions, weights that are kept, and the baselines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import stages.attention
import stages.baselines
import stages.race
import stages.squad
from pipeline.layout import MANIFEST, Layout
from pipeline.params import TaskEntry
from quartet.config.evaluation import AttentionSettings
from quartet.config.finetuning import RaceSettings, SquadSettings
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.files import read_json, write_json
from quartet.models.checkpoint import load_card
from quartet.results import read_results
from quartet.tasks.attention.maps import read_article
from quartet.tasks.race.data import LETTERS
from quartet.text.encoded_corpus import EncodedCorpus
from tests.scoring.test_language_model import Small, random_model, save
from tests.stages.world import evaluate_by
from tests.tasks.race import test_tuning as race_toy
from tests.tasks.squad import test_tuning as squad_toy

LAYOUT = Layout("made-up")


def squad_json(count: int, seed: int, second: bool) -> str:
    """Toy questions in the official form, four to an article."""
    articles = []
    questions = [one for one in squad_toy.toy(2 * count, seed) if second or one.answers][:count]
    for start in range(0, len(questions), 4):
        paragraphs = []
        for one in questions[start : start + 4]:
            entry: dict[str, Any] = {"id": one.id, "question": one.text}
            entry["answers"] = [{"text": answer.text, "answer_start": answer.start} for answer in one.answers]
            if second:
                entry["is_impossible"] = not one.answers
            paragraphs.append({"context": one.context, "qas": [entry]})
        articles.append({"title": f"article {start}", "paragraphs": paragraphs})
    return json.dumps({"data": articles})


def race_lines(count: int, seed: int, level: str) -> str:
    rows = [
        {
            "id": f"{level}{number}.txt",
            "article": one.passage,
            "questions": [one.text],
            "options": [list(one.options)],
            "answers": [LETTERS[one.answer]],
        }
        for number, one in enumerate(race_toy.toy(count, seed))
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES: dict[tuple[str, str], dict[str, str]] = {
    ("squad", "squad1"): {"train.json": squad_json(24, 1, False), "dev.json": squad_json(10, 2, False)},
    ("squad", "squad2"): {"all.json": squad_json(40, 3, True)},
    ("race", "race"): {
        "train.jsonl": race_lines(20, 1, "high"),
        "dev_middle.jsonl": race_lines(6, 2, "middle"),
        "dev_high.jsonl": race_lines(8, 3, "high"),
        "test.jsonl": race_lines(5, 4, "high"),
    },
}


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_corpus: Small) -> Any:
    """A small model that sees segments, the three sets, and the corpus's test split."""
    monkeypatch.chdir(tmp_path)
    model = random_model("segabert", small_corpus[0], max_length=40)
    origin = small_corpus[1]["train"].origin
    assert origin is not None
    model.card = replace(model.card, encoding=origin.sha256)
    save(model, _made(LAYOUT.models / "segabert"))
    tasks = {
        "race-gone": TaskEntry(
            kind="race", license="x", files={"train": Source(source="m.jsonl", sha256=None)}
        )
    }
    write_json(
        LAYOUT.task("race", "race-gone") / MANIFEST, {"available": False, "reason": "gone", "obtain": "there"}
    )
    for (kind, name), contents in FILES.items():
        sources = {file.split(".")[0]: Source(source=file, sha256=None) for file in contents}
        form = name if kind == "squad" else None
        tasks[name] = TaskEntry(kind=kind, format=form, license="x", files=sources)  # type: ignore[arg-type]
        write_json(LAYOUT.task(kind, name) / MANIFEST, {})  # type: ignore[arg-type]
        for file, text in contents.items():
            (LAYOUT.task(kind, name) / file).write_text(text)  # type: ignore[arg-type]
    common: dict[str, Any] = {"epochs": 1, "batch_size": 8, "learning_rate": 1e-3, "max_length": 64}
    both = ("paper", "released")
    made = SimpleNamespace(
        experiment="made-up", seeds=[11], threads=1, device="cpu", bootstrap=20, tasks=tasks,
        corpora={}, tokenizers={}, nbest={}, word2vec=None, finetune=SimpleNamespace(folds=2),
        models={"segabert": SimpleNamespace(corpus="small", tokenizer="pieces")},
        segmentation=SimpleNamespace(punkt="trained", curated=True),
        squad=SquadSettings(**common, positions=both, train_limit=16),
        race=RaceSettings(**common, positions=both),
        attention=AttentionSettings(layers=["first", 2], head="mean", tokens=20, documents=3, document=1),
    )  # fmt: skip
    monkeypatch.setattr(EncodedCorpus, "open", lambda folder, split: small_corpus[1][split])
    evaluate_by(made, monkeypatch)
    return made


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def test_squad_leaves_rows_predictions_and_weights(params: Any) -> None:
    stages.squad.squad("segabert")
    found = read_results(LAYOUT.rows("squad", "segabert"))
    systems = {(row.system, row.dataset, row.split) for row in found}
    assert systems == {
        (system, dataset, split)
        for system in ("segabert", "segabert/released")
        for dataset, split in (("squad1", "dev"), ("squad2", "held-out"))
    }
    of_first = {row.metric: row for row in found if row.system == "segabert" and row.dataset == "squad1"}
    assert set(of_first) == {"em", "f1"}
    assert of_first["em"].n == 10
    assert "tuned on 16 of 24 questions of squad1, epochs: 1" in of_first["em"].scale
    of_second = {row.metric: row for row in found if row.system == "segabert" and row.dataset == "squad2"}
    assert {"em", "noans", "f1-hasans", "em-best", "f1-threshold"} <= set(of_second)
    folder = LAYOUT.predictions("squad", "segabert")
    texts = read_json(folder / "squad2.held-out.released.seed-11.json")
    assert len(texts) == of_second["em"].n == 8, "the last two of ten articles, four questions each"
    assert set(read_json(folder / "squad2.held-out.seed-11.na-prob.json")) == set(texts)
    assert not (folder / "squad1.dev.seed-11.na-prob.json").exists()


def test_kept_weights_spare_a_second_tuning(params: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stages.squad.squad("segabert")
    stages.race.race("segabert")
    before = [LAYOUT.rows(stage, "segabert").read_bytes() for stage in ("squad", "race")]
    kept = sorted(LAYOUT.artifacts.glob("resume/**/*.safetensors"))
    assert len(kept) == 6, "three sets, two readings"

    def never(*_: object, **__: object) -> None:
        raise AssertionError("tuned again")

    monkeypatch.setattr("quartet.training.tuning.tune", never)
    stages.squad.squad("segabert")
    stages.race.race("segabert")
    assert [LAYOUT.rows(stage, "segabert").read_bytes() for stage in ("squad", "race")] == before


def test_a_changed_setting_tunes_again_and_old_weights_go(params: Any) -> None:
    stages.race.race("segabert")
    before = set(LAYOUT.artifacts.glob("resume/race/**/*.safetensors"))
    params.race = RaceSettings(epochs=1, batch_size=4, learning_rate=1e-3, max_length=64)
    stages.race.race("segabert")
    after = set(LAYOUT.artifacts.glob("resume/race/**/*.safetensors"))
    assert len(before) == 2
    assert len(after) == 1
    assert not before & after


@pytest.mark.parametrize("stage", ["squad", "race"])
def test_another_model_and_another_segmentation_tune_again(
    params: Any, stage: str, small_corpus: Small
) -> None:
    """Kept weights are of the model as it was, and of windows that lay otherwise."""

    def kept() -> set[Path]:
        getattr(getattr(stages, stage), stage)("segabert")
        return set(LAYOUT.artifacts.glob(f"resume/{stage}/**/*.safetensors"))

    params.squad, params.race = (replace(one, positions=("paper",)) for one in (params.squad, params.race))
    first = kept()
    params.segmentation.curated = False
    second = kept()
    other = random_model("segabert", small_corpus[0], max_length=40, init_std=0.2)
    other.card = replace(other.card, encoding=load_card(LAYOUT.models / "segabert").encoding)
    save(other, LAYOUT.models / "segabert")
    third = kept()
    assert first and len({len(each) for each in (first, second, third)}) == 1
    assert len(first | second | third) == 3 * len(first)


def test_race_leaves_rows_of_each_level(params: Any) -> None:
    stages.race.race("segabert")
    found = {
        (row.dataset, row.split, row.metric): row
        for row in read_results(LAYOUT.rows("race", "segabert"))
        if row.system == "segabert"
    }
    assert {key: row.n for key, row in found.items()} == {
        ("race", "dev", "accuracy"): 14,
        ("race-middle", "dev", "accuracy"): 6,
        ("race-high", "dev", "accuracy"): 8,
        ("race", "test", "accuracy"): 5,
        ("race-high", "test", "accuracy"): 5,
        ("race", "dev", "passage-read"): 14,
        ("race", "test", "passage-read"): 5,
    }
    assert {row.device for row in found.values()} == {"cpu"}
    assert all("tuned on 20 questions of race" in row.scale for row in found.values())
    assert 0 < found["race", "dev", "passage-read"].value <= 1
    letters = read_json(LAYOUT.predictions("race", "segabert") / "race.dev.released.seed-11.json")
    assert len(letters) == 14
    assert set(letters.values()) <= set(LETTERS)


def test_baselines_have_the_rows_of_the_models(params: Any) -> None:
    stages.baselines.baselines()
    found = read_results(LAYOUT.rows("baselines"))
    squad, race = ([row for row in found if row.table == table] for table in ("squad", "race"))
    assert len(squad) + len(race) == len(found)
    assert {(row.system, row.dataset) for row in squad} == {
        ("random-span", "squad1"),
        ("random-span", "squad2"),
        ("no-answer", "squad2"),
    }
    assert {row.metric for row in squad if row.dataset == "squad1"} == {"em", "f1"}
    assert {(row.system, row.dataset, row.split) for row in race} >= {
        ("majority", "race-high", "test"),
        ("bag-of-words", "race", "dev"),
    }
    assert all(row.seed is None for row in (*squad, *race))


def test_attention_leaves_shares_and_maps(params: Any) -> None:
    stages.attention.attention("segabert")
    found = read_results(LAYOUT.rows("attention", "segabert"))
    assert {row.system for row in found} == {"segabert/layer-1", "segabert/layer-2", "segabert/uniform"}
    scale = load_card(LAYOUT.models / "segabert").scale
    assert {(row.device, row.scale, row.seed) for row in found} == {("cpu", scale, 11)}
    assert {row.metric for row in found} == {"own-sentence", "own-paragraph", "itself", "before", "specials"}
    assert {row.ci_low for row in found} == {None}, "too few documents"
    article = read_article(LAYOUT.attention("segabert"))
    assert sorted(article.weights_TT) == [1, 2]
    params.attention = AttentionSettings(layers=["last"], head=1, tokens=20, documents=0, document=4)
    with pytest.raises(InputError, match=r"attention\.document: 4, and the test documents are 0 to 3"):
        stages.attention.attention("segabert")
