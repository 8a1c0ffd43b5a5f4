"""Similarity and entailment as the stages measure them, beside SciPy on each set's own pairs."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

import quartet
from pipeline.settings import read_params
from quartet.results import Result
from quartet.tasks.nli.data import LABELS
from quartet.tasks.nli.tuning import SiameseModel, untrained_model
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.small_corpus import OBJECTS, SUBJECTS, VERBS
from tests.stages.world import LAYOUT, World, all_different, nothing_judged, values

Pairs = list[tuple[str, str, float]]


def scored(count: int, seed: int) -> Pairs:
    """Sentences in pairs with a score from 0 to 5; no two pairs of a set are alike, and no two sets."""
    draw = random.Random(seed)
    sentences = [f"{one} {did} {what}." for one in SUBJECTS for did in VERBS for what in OBJECTS]
    pairs = draw.sample([*itertools.combinations(sentences, 2)], count)
    return [(first, second, round(draw.uniform(0, 5), 2)) for first, second in pairs]


def csv(pairs: Pairs) -> str:
    return "".join(f"{first},{second},{score}\n" for first, second, score in pairs)


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Of the first half of the rows with the second."""
    first, second = np.split(vectors, 2)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    result: np.ndarray = (first * second).sum(axis=1) / lengths
    return result


def texts(pairs: Pairs) -> list[str]:
    return [*(first for first, _, _ in pairs), *(second for _, second, _ in pairs)]


#: By set, its splits.
SETS = {
    "one": {"dev": scored(20, 1), "test": scored(20, 2)},
    "two": {"dev": scored(30, 3), "test": scored(30, 4)},
}
ENTAILED = "".join(
    json.dumps({"sentence1": first, "sentence2": second, "gold_label": LABELS[number % 3]}) + "\n"
    for number, (first, second, _) in enumerate(scored(36, 5))
)


@pytest.fixture
def judged(world: World) -> World:
    """Two sets with two splits each, a set of entailment, and a small model."""
    for name, splits in SETS.items():
        world.task("sts", name, "stsb", {f"{split}.csv": csv(pairs) for split, pairs in splits.items()})
    world.task("nli", "snli", "snli", {"train.jsonl": ENTAILED, "dev.jsonl": ENTAILED})
    world.set(nli__sets=["snli"])
    world.model("tta", "tta")
    return world


@pytest.mark.parametrize("layer", ["context", "embed", "table"])
def test_each_set_is_judged_by_its_own_pairs(judged: World, layer: Any) -> None:
    rows = judged.run("sts", "tta")
    model = quartet.load(LAYOUT.models / "tta")
    for metric, correlation in (("pearson", pearsonr), ("spearman", spearmanr)):
        found = values(rows, "sts", metric)
        for name, splits in SETS.items():
            for split, pairs in splits.items():
                predicted = cosines(model.embed(texts(pairs), layer))
                expected = correlation(predicted, [score for _, _, score in pairs]).statistic
                assert found[f"tta/{layer}", name, split] == pytest.approx(expected)


def test_every_two_models_are_compared_on_every_set(judged: World) -> None:
    """By the outcomes that the evaluations left, in the order of the settings; the control of another model too."""
    of_tta = judged.settings()["models"]["tta"]
    judged.set(models__bilm={**of_tta, "objective": "mlm", "architecture": "encoder"})
    judged.set(evaluate__sts=["tta", "bilm"], evaluate__nli=["tta"], nli__random_control=False)
    judged.model("bilm", "bilm")
    nothing_judged(read_params())
    levels = {model: judged.run("sts", model) for model in ("tta", "bilm")}
    tuned = judged.run("nli", "tta")
    compared = judged.run("compare")
    found = values(compared, "sts-pairs", "pearson-difference")
    first, second = (values(levels[model], "sts", "pearson") for model in ("tta", "bilm"))
    assert len(SETS) > 1
    for name, splits in SETS.items():
        for split in splits:
            for ours, theirs in (("context", "context"), ("context", "table"), ("table", "table")):
                difference = found[f"tta/{ours} - bilm/{theirs}", name, split]
                expected = first[f"tta/{ours}", name, split] - second[f"bilm/{theirs}", name, split]
                assert difference == pytest.approx(expected), (name, split, ours, theirs)
    levels_of_tuned = values(tuned, "sts", "spearman")
    of_tuned = values(compared, "sts-pairs", "spearman-difference")["tta/untuned - tta/nli", "one", "test"]
    expected = levels_of_tuned["tta/untuned", "one", "test"] - levels_of_tuned["tta/nli", "one", "test"]
    assert of_tuned == pytest.approx(expected)


def likeness(rows: list[Result], reading: str) -> dict[str, float]:
    return {
        name: value
        for (system, name, _), value in values(rows, "sts", "spearman").items()
        if system == f"tta/{reading}"
    }


def test_the_control_starts_from_random_weights_and_the_model_from_its_own(judged: World) -> None:
    """At a rate that moves nothing each encoder is what it started from."""
    judged.set(nli__learning_rate=1e-30)
    rows = judged.run("nli", "tta")
    model = quartet.load(LAYOUT.models / "tta")
    start = {
        "nli": model,
        "untuned": model,
        "random-nli": untrained_model(model, TuningSettings(1, 8, 1e-30, 0.1, 1)),
    }
    for reading, encoder in start.items():
        expected = {
            name: spearmanr(
                cosines(encoder.embed(texts(splits["test"]), masked=False)),
                [score for _, _, score in splits["test"]],
            ).statistic
            for name, splits in SETS.items()
        }
        assert likeness(rows, reading) == pytest.approx(expected), reading
    assert likeness(rows, "nli") != likeness(rows, "random-nli")
    assert {row.split for row in rows if row.table == "sts"} == {"test"}


#: What tunes a model, and for each key another value.
TUNING = {
    "nli__epochs": 1,
    "nli__batch_size": 8,
    "nli__learning_rate": 1e-2,
    "nli__warmup": 0.1,
    "nli__limit": 0,
    "nli__max_length": 32,
}
OTHERS = {
    "nli__epochs": 2,
    "nli__batch_size": 5,
    "nli__learning_rate": 2e-2,
    "nli__warmup": 0.9,
    "nli__limit": 20,
    "nli__max_length": 5,
}


def test_every_key_of_the_tuning_moves_the_tuned_model_alone(judged: World) -> None:
    judged.set(nli__random_control=False)
    runs = judged.moved(lambda: judged.run("nli", "tta"), TUNING, OTHERS)
    assert {row.system for row in runs[""]} == {"tta", "tta/untuned", "tta/nli"}, "no control"
    all_different({key: likeness(rows, "nli") for key, rows in runs.items()})
    assert all(likeness(rows, "untuned") == likeness(runs[""], "untuned") for rows in runs.values())


def test_what_decides_the_weights_tunes_again(judged: World) -> None:
    tuned = judged.tunings("nli")
    judged.set(nli__random_control=False)

    def tunes() -> bool:
        tuned.clear()
        judged.run("nli", "tta")
        return bool(tuned)

    for key, value in OTHERS.items():
        judged.set(**TUNING)
        tunes()
        judged.set(**{key: value})
        assert tunes(), key
    judged.set(**TUNING)
    tunes()
    assert not tunes()
    judged.model("tta", "tta", init_std=0.7)
    assert tunes(), "another model of the same seed"


def test_accuracies_are_of_what_the_tuned_model_says_of_premise_and_hypothesis(judged: World) -> None:
    judged.set(**TUNING, nli__random_control=False)
    found = values(judged.run("nli", "tta"), "nli", "accuracy")
    (kept,) = LAYOUT.resume("nli/tta", 1).iterdir()
    settings = TuningSettings(1, 8, 1e-2, 0.1, 1)
    model = quartet.load(LAYOUT.models / "tta")
    tuned = load_or_tune(lambda: SiameseModel(model, len(LABELS), 32), [], settings, kept)
    rows = [json.loads(line) for line in ENTAILED.splitlines()]
    said = tuned.predict([(row["sentence1"], row["sentence2"]) for row in rows])
    right = [LABELS[one] == row["gold_label"] for one, row in zip(said, rows, strict=True)]
    assert found["tta", "snli", "dev"] == pytest.approx(np.mean(right))
