"""The section glue: of params.yaml, and what a search leaves: rows, the leaderboard's files, a summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quartet.config.finetuning import GlueSettings, GridPoint
from quartet.config.loading import checked
from quartet.errors import InputError
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import GlueExample, GlueSet, glue_set
from quartet.tasks.glue.evaluation import add_rows, summary, write_submission
from quartet.tasks.glue.search import GridSearchResult
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
GRID = {"batch_size": [16], "learning_rate": [3e-4], "epochs": [2, 3]}


def section(**changes: Any) -> GlueSettings:
    return checked(GlueSettings, {"seeds": [1], "default": GRID, **changes}, "params.yaml")


def test_a_set_has_its_own_grid_or_the_default_one() -> None:
    found = section(tasks={"rte": {**GRID, "epochs": [10]}}, limit=100, pooling="mean")
    assert (found.grid("rte").epochs, found.grid("cola").epochs) == ((10,), (2, 3))
    assert (found.limit, found.pooling, found.max_length, found.own_schedule) == (100, "mean", 0, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": []}, "must hold one seed"),
        ({"pooling": "max"}, "params.yaml: pooling"),
        ({"default": {**GRID, "epochs": [3, 2]}}, r"epochs \[3, 2\] must hold one value at least, rising"),
        ({"tasks": {"rte": {**GRID, "epoch": [1]}}}, r"tasks\.rte\.epoch: unknown key; .*epochs"),
        ({"warmup": 1.5}, "warmup"),
    ],
)  # fmt: skip
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        section(**changes)


def examples() -> GlueSet:
    """Four labelled dev pairs, of which the first is a training pair too, and a hidden test set."""
    pairs = [("a", "b", "1"), ("c", "d", "0"), ("e", "f", "1"), ("g", "h", "0")]
    dev = [GlueExample(index, *pair) for index, pair in enumerate(pairs)]
    train = [GlueExample(0, "a", "b", "0"), *(GlueExample(1, "x", f"y {n}", "1") for n in range(5))]
    hidden = [GlueExample(index, "i", "j", None) for index in (4, 9)]
    return glue_set("mrpc", {"train": train, "dev": dev, "test": hidden}, 0)


def found() -> GridSearchResult:
    """Three seeds with 4, 2 and 3 of four right at the chosen point."""
    said = {1: [1.0, 0, 1, 0], 2: [0.0, 1, 1, 0], 3: [1.0, 0, 1, 1]}
    handed_in = {1: [0.0, 0.0], 2: [0.0, 1.0], 3: [1.0, 0.0]}
    point, other = GridPoint(16, 3e-5, 3), GridPoint(16, 3e-5, 2)
    return GridSearchResult(
        point,
        {point: {1: 1.0, 2: 0.5, 3: 0.775}, other: {1: 0.1, 2: -np.inf, 3: 0.3}},
        {seed: {"dev": np.array(one), "test": np.array(handed_in[seed])} for seed, one in said.items()},
        {"train": 2, "dev": 1, "test": 0},
        12.5,
        ("cpu",),
    )


def test_rows_of_the_median_seed_and_of_the_range(small_corpus: Small) -> None:
    model = random_model("bilm", small_corpus[0])
    run = Evaluation("made-up", "glue", samples=50, seed=1)
    add_rows(run, model, "paraphrases", examples(), found())
    rows = run.rows
    values = {row.metric: (row.value, row.n) for row in rows}
    assert values == {
        "accuracy": (0.75, 4), "accuracy-lowest": (0.5, 3), "accuracy-highest": (1.0, 3),
        "f1": (pytest.approx(0.8), 4), "f1-lowest": (pytest.approx(0.5), 3), "f1-highest": (1.0, 3),
        "cut": (1, 4), "in-train": (1, 4), "batch-size": (16, 2), "learning-rate": (3e-5, 2), "epochs": (3, 2),
    }  # fmt: skip
    assert {(row.table, row.system, row.dataset, row.split, row.seed) for row in rows} == {
        ("glue", "bilm", "paraphrases", "dev", 11)
    }
    assert rows[0].scale.endswith("fine-tuned on 6 examples") and rows[0].ci_low is not None


def test_a_split_may_hold_one_example(small_corpus: Small) -> None:
    hidden, right = GlueExample(0, "i", "j", None), GlueExample(0, "a", "b", "1")
    pairs = GlueSet("mrpc", [right], {"dev": [right], "test": [hidden]}, 1)
    point = GridPoint(16, 3e-5, 3)
    said = {1: {"dev": np.array([1.0]), "test": np.array([0.0])}}
    run = Evaluation("made-up", "glue", samples=50, seed=1)
    searched = GridSearchResult(point, {point: {1: 1.0}}, said, {"dev": 0, "test": 0}, 1.0, ("cpu",))
    add_rows(run, random_model("bilm", small_corpus[0]), "paraphrases", pairs, searched)
    assert {(row.split, row.metric, row.value, row.n) for row in run.rows} >= {("dev", "accuracy", 1.0, 1)}
    assert {row.split for row in run.rows} == {"dev"}


def test_the_median_seeds_predictions_are_handed_in(tmp_path: Path) -> None:
    written = write_submission(tmp_path, examples(), found())
    assert written == [tmp_path / "MRPC.tsv"]
    assert written[0].read_text() == "index\tprediction\n4\t1\n9\t0\n"


def test_a_summary_tells_all_that_was_tried() -> None:
    told = json.loads(json.dumps(summary(examples(), found()), allow_nan=False))
    assert told["chosen"] == {"batch_size": 16, "learning_rate": 3e-5, "epochs": 3}
    assert (told["median_seed"], told["chosen_on"], told["train"]) == (3, "dev", 6)
    assert told["tried"][1]["scores"] == {"1": 0.1, "2": None, "3": 0.3}
