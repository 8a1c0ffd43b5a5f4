"""The search of a grid: what it chooses, what it keeps, and a killed one that goes on where it was."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from quartet.config.finetuning import GlueProtocol, GridPoint, GridTraining, HyperparameterGrid, Pooling
from quartet.errors import InputError
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.glue import search as glue_search
from quartet.tasks.glue.data import GlueExample, GlueSet, glue_set
from quartet.tasks.glue.search import GridSearchResult, fingerprint, search
from quartet.tasks.glue.tuning import fine_tune
from tests.scoring.test_language_model import random_model
from tests.tasks.glue.test_tuning import Small, model_of, ordered, toy


def accuracy(
    model: LanguageModel, examples: GlueSet, folder: Path, pooling: Pooling = "cls", epochs: int = 4
) -> float:
    grid = HyperparameterGrid(batch_size=(16,), learning_rate=(3e-3,), epochs=(epochs,))
    found = search(model, examples, grid, GlueProtocol(seeds=(1,), pooling=pooling, warmup=0.1), folder)
    return found.scores[found.point][1]


def test_without_paragraphs_the_order_of_two_texts_cannot_be_told(
    small_corpus: Small, tmp_path: Path
) -> None:
    """Token indices begin anew in each text: what tells the texts apart is the paragraph index alone."""
    blind = model_of(small_corpus, "segabert", positions=["token", "sentence"])
    assert 0.35 < accuracy(blind, toy(), tmp_path) < 0.65


def test_scores_are_learnt(small_corpus: Small, tmp_path: Path) -> None:
    def scored(count: int, seed: int) -> list[GlueExample]:
        return [
            GlueExample(one.index, one.first, one.second, None, 5.0 if one.label == "entailment" else 1.0)
            for one in ordered(count, seed)
        ]

    examples = glue_set("stsb", {"train": scored(300, 1), "dev": scored(100, 2)}, 0)
    grid = HyperparameterGrid(batch_size=(16,), learning_rate=(3e-3,), epochs=(6,))
    found = search(model_of(small_corpus, "segabert"), examples, grid, GlueProtocol(seeds=(1,)), tmp_path)
    predicted, gold = found.predictions[1]["dev"], [one.score for one in examples.others["dev"]]
    assert np.corrcoef(predicted, np.array(gold, dtype=float))[0, 1] > 0.95
    assert abs(predicted - np.array(gold, dtype=float)).mean() < 1, "on the scale of the scores"


def test_the_grid_is_the_papers() -> None:
    grid = HyperparameterGrid(
        batch_size=(16, 24, 32), learning_rate=(2e-5, 3e-5, 5e-5), epochs=tuple(range(3, 11))
    )
    own, shared = grid.plans(own_schedule=True), grid.plans(own_schedule=False)
    assert (len(own), sum(plan.epochs for plan in own)) == (72, 468)
    assert (len(shared), sum(plan.epochs for plan in shared)) == (9, 90)
    assert sorted(point for plan in own for point in plan.points) == sorted(
        point for plan in shared for point in plan.points
    )
    assert shared[0] == GridTraining(16, 2e-5, 10, tuple(range(3, 11)))
    for wrong in ((), (3, 2), (2, 2)):
        with pytest.raises(ValueError, match="epochs"):
            HyperparameterGrid(batch_size=(16,), learning_rate=(1e-3,), epochs=wrong)
    with pytest.raises(ValueError, match="seeds"):
        GlueProtocol(seeds=(1, 1))


def test_the_choice_is_the_highest_median_and_the_report_the_median_seed() -> None:
    low, high = GridPoint(16, 1e-3, 2), GridPoint(16, 1e-3, 4)
    scores = {low: {1: 0.9, 2: 0.1, 3: 0.2}, high: {1: 0.3, 2: 0.5, 3: 0.4}}
    assert GridSearchResult(high, scores, {}, {}, 0.0, ()).middle == 3
    assert GridSearchResult(low, {low: {5: 0.3, 6: 0.2, 7: 0.1, 8: 0.4}}, {}, {}, 0.0, ()).middle == 6, (
        "the lower of two"
    )


def test_a_search_chooses_on_dev_alone_by_the_median(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trainings that never were: with 2 epochs one seed is perfect and two are wrong; with 3 all are right on half."""
    examples = glue_set("rte", {"train": ordered(20, 1), "dev": ordered(20, 2), "test": ordered(20, 4)}, 0)
    gold = [0.0 if one.label == "entailment" else 1.0 for one in examples.others["dev"]]
    wrong = [1 - value for value in gold]

    def invented(*given: object) -> dict[int, dict[str, list[float]]]:
        seed = given[4].seed  # type: ignore[attr-defined]
        half = gold[:10] + wrong[10:]
        test = [float(seed)] * 20
        return {
            2: {"dev": gold if seed == 1 else wrong, "test": test},
            3: {"dev": half, "test": test},
        }

    monkeypatch.setattr(glue_search, "fine_tune", invented)
    grid = HyperparameterGrid(batch_size=(8,), learning_rate=(1e-3,), epochs=(2, 3))
    found = search(model_of(small_corpus, "bilm"), examples, grid, GlueProtocol(seeds=(1, 2, 3)), tmp_path)
    assert found.point.epochs == 3
    assert found.scores[found.point] == {1: 0.5, 2: 0.5, 3: 0.5}
    assert found.predictions[found.middle]["test"].tolist() == [1.0] * 20
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"8-0.001-3.seed-{n}.json" for n in (1, 2, 3)]


def test_a_killed_search_goes_on(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(small_corpus, "segabert")
    examples = glue_set("rte", {"train": ordered(40, 1), "dev": ordered(30, 2)}, 0)
    grid = HyperparameterGrid(batch_size=(8, 16), learning_rate=(3e-3,), epochs=(1, 2))
    protocol = GlueProtocol(seeds=(1, 2))
    done: list[int] = []

    def kill() -> None:
        done.append(1)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(model, examples, grid, protocol, tmp_path / "killed", kill, "a card")
    trained = []

    def counted(*given: object) -> object:
        trained.append(1)
        return fine_tune(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(glue_search, "fine_tune", counted)
    resumed = search(model, examples, grid, protocol, tmp_path / "killed", device="a processor")
    assert len(trained) == 1
    assert resumed.devices == ("a card", "a processor"), "what computed each, not what reads them"
    whole = search(model, examples, grid, protocol, tmp_path / "whole")
    assert len(trained) == 5
    assert resumed.scores == whole.scores
    assert {seed: one["dev"].tolist() for seed, one in resumed.predictions.items()} == {
        seed: one["dev"].tolist() for seed, one in whole.predictions.items()
    }
    more = HyperparameterGrid(batch_size=(8,), learning_rate=(3e-3,), epochs=(2,))
    search(model, examples, more, protocol, tmp_path / "whole")
    assert len(trained) == 5, "what was read after 1 and 2 epochs does for 2"


def test_a_fingerprint_tells_apart_what_decides_a_training(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, examples = model_of(small_corpus, "segabert"), toy()
    same = fingerprint(model, examples)
    assert same == fingerprint(model, toy())
    fewer = glue_set("rte", {"train": ordered(300, 1), "dev": ordered(200, 2)}, 10)
    others = [
        fingerprint(model_of(small_corpus, "segabert", init_std=0.2), examples),
        fingerprint(model, fewer),
    ]
    for split in ("train", "dev"):  # other texts with the same labels
        changed = {"train": examples.train, **examples.others}
        changed[split] = [*changed[split][:-1], dataclasses.replace(changed[split][-1], first="another text")]
        others.append(fingerprint(model, glue_set("rte", changed, 0)))
    monkeypatch.setattr(glue_search, "tuning_code", lambda *modules: "another")
    others.append(fingerprint(model, examples))
    assert len({same, *others}) == 6


def test_what_cannot_be_tuned_is_named(small_corpus: Small, tmp_path: Path) -> None:
    grid, protocol = (
        HyperparameterGrid(batch_size=(8,), learning_rate=(1e-3,), epochs=(1,)),
        GlueProtocol(seeds=(1,)),
    )
    broken = model_of(small_corpus, "segabert")
    next(broken.network.parameters()).data.fill_(float("nan"))
    with pytest.raises(InputError, match=r"segabert: tuning step 0 .*: the loss is nan; lower its"):
        search(broken, toy(), grid, protocol, tmp_path)
    with pytest.raises(InputError, match="transformer-xl: reads streams"):
        search(random_model("transformer-xl", small_corpus[0]), toy(), grid, protocol, tmp_path)
    long = GlueProtocol(seeds=(1,), max_length=99)
    with pytest.raises(InputError, match=r"glue\.max_length: 99 tokens are more than the 40 that bilm reads"):
        search(model_of(small_corpus, "bilm"), toy(), grid, long, tmp_path)
    assert not list(tmp_path.iterdir()), "nothing is kept of what did not end"
