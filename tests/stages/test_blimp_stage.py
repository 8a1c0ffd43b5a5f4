"""blimp@<model>: the whole, its parts and its paradigms, of a trained model and of what stands for any other scorer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stages.blimp as stage
from pipeline.layout import MANIFEST, Layout
from pipeline.params import TaskEntry
from quartet.config.evaluation import BlimpSettings
from quartet.config.text import Source
from quartet.files import write_json
from quartet.results import Result, read_results
from tests.stages.world import evaluate_by

PARADIGMS = {"passive_1": "argument_structure", "wh_island": "island_effects"}


class Shorter:
    """A scorer that prefers the shorter text: -1 a word, and can tell no two texts of one length apart."""

    name, scale, device, masks, fingerprint = "shorter", "made up", "cpu", False, "1"

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        return [np.full(len(text.split()), -1.0) for text in texts]


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Of each paradigm a pair that is longer where it is bad, one of one length, and one longer where it is good."""
    monkeypatch.chdir(tmp_path)
    layout = Layout("made-up")
    sources = {}
    for paradigm, phenomenon in PARADIGMS.items():
        texts = [("he sleeps", "he sleeps not"), ("he sleeps", "he sleep"), ("he does not", "he not")]
        rows = [
            {"sentence_good": good, "sentence_bad": bad, "field": "syntax", "linguistics_term": phenomenon,
             "UID": paradigm, "pairID": str(number)}
            for number, (good, bad) in enumerate(texts)
        ]  # fmt: skip
        path = layout.task("blimp", "blimp") / f"{paradigm}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        sources[paradigm] = Source(source=path.name, sha256=None)
    write_json(layout.task("blimp", "blimp") / MANIFEST, {})
    made = SimpleNamespace(
        experiment="made-up",
        bootstrap=50,
        seeds=[1],
        blimp=BlimpSettings(limit=0),
        tasks={"blimp": TaskEntry(kind="blimp", license="x", files=sources)},
    )
    evaluate_by(made, monkeypatch)
    monkeypatch.setattr(stage, "scorers", lambda params, name: [(Shorter(), 7)])
    return made


def values() -> dict[tuple[str, str, str], Result]:
    rows = read_results(Layout("made-up").rows("blimp", "shorter"))
    assert {(row.table, row.split, row.seed, row.device) for row in rows} == {("blimp", "test", 7, "cpu")}
    return {(row.system, row.dataset, row.metric): row for row in rows}


def test_every_part_has_its_row_and_ties_earn_nothing(params: Any) -> None:
    stage.blimp("shorter")
    found = values()
    assert {key[1:] for key in found if key[0] == "shorter"} == {
        *(("blimp", metric) for metric in ("accuracy", "accuracy-micro", "ties")),
        *((f"blimp/{part}", "accuracy") for part in PARADIGMS),
        *((f"blimp/phenomenon/{part}", "accuracy") for part in PARADIGMS.values()),
        ("blimp/field/syntax", "accuracy"),
    }
    assert {key[1] for key in found if key[0] == "shorter/mean"} == {"blimp", "blimp/field/syntax"}
    whole = found["shorter", "blimp", "accuracy"]
    assert whole.value == pytest.approx(1 / 3)
    assert whole.n == 6
    assert found["shorter", "blimp", "ties"].value == pytest.approx(1 / 3)
    assert found["shorter/mean", "blimp", "accuracy"].value == 0, "a word is worth -1 in all texts"
    assert found["shorter/mean", "blimp", "ties"].value == 1
    assert found["shorter", "blimp/wh_island", "accuracy"].n == 3


def test_a_limit_is_of_each_paradigm(params: Any) -> None:
    params.blimp = BlimpSettings(limit=1)
    stage.blimp("shorter")
    assert {key: row.n for key, row in values().items() if key[0] == "shorter" and key[2] == "accuracy"} == {
        ("shorter", dataset, "accuracy"): n
        for n, datasets in (
            (2, ("blimp", "blimp/field/syntax")),
            (1, (*(f"blimp/{part}" for part in PARADIGMS),
                 *(f"blimp/phenomenon/{part}" for part in PARADIGMS.values()))),
        )
        for dataset in datasets
    }  # fmt: skip
    assert values()["shorter", "blimp", "accuracy"].value == 1
