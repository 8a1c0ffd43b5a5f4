"""Every figure of reranking, by lists whose best weight on dev is 0.3 and on test 0.7.

A hypothesis without errors wins its list where the weight is above (or below) a threshold t: its first-pass score is t
below (above) that of its rival, and its language model's 1 - t above (below).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from quartet.files import write_jsonl
from quartet.results import Result, read_results
from quartet.statistics import intervals
from stages import combine, compare, rerank
from tests.settings import change_settings
from tests.stages.world import first_pass_and_oracle, nothing_judged

LAYOUT = Layout("tiny")
LISTS = "sample-speech"
ONE, OTHER = "tta", "segatron-xl"
DEV_WORDS, TEST_WORDS = 15, 35


@dataclass
class Lists:
    """One split: the lines of its file, and by text the two scores that decide about it."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[str, tuple[float, float]] = field(default_factory=dict)

    def won(self, name: str, errors: int, first: float, second: float) -> None:
        """A list of a text with errors and one without, which is ahead by so much in each of two scores."""
        right = f"{name} right right right right"
        wrong = " ".join(right.split()[: 5 - errors] + ["wrong"] * errors)
        self.scores |= {right: (first - 4, second - 4), wrong: (-4.0, -4.0)}
        self.lines.append({"utt": name, "ref": right, "hypotheses": [{"text": wrong}, {"text": right}]})

    def above(self, name: str, threshold: float, errors: int) -> None:
        self.won(name, errors, -threshold, 1 - threshold)

    def below(self, name: str, threshold: float, errors: int) -> None:
        self.won(name, errors, threshold, threshold - 1)

    def single(self, name: str, reference: str, text: str) -> None:
        """A list that leaves no choice."""
        self.scores[text] = (-4.0, -4.0)
        self.lines.append({"utt": name, "ref": reference, "hypotheses": [{"text": text}]})


def splits() -> dict[str, Lists]:
    dev, test = Lists(), Lists()
    dev.above("a", 0.25, 1)
    dev.below("b", 0.35, 1)
    dev.single("c", "c right right right right", "c right right right wrong")
    test.above("d", 0.65, 2)
    test.below("e", 0.75, 2)
    test.above("f", 0.15, 4)
    test.won("g", 1, -1.0, -1.0)
    test.single("h", "h right right right right", "h right right right wrong")
    test.single("i", "i right right right RIGHT", "i right right right right")
    test.single("j", "j right right, right right!", "j right right right right")
    return {"dev": dev, "test": test}


class Toy:
    """A language model that knows the score of each text, spread over its words."""

    device, scale, masks, pseudo = "cpu", "a toy", False, True

    def __init__(self, name: str, scores: dict[str, float]) -> None:
        self.fingerprint, self.scores = name, scores

    def token_logprobs(self, texts: list[str], masked: bool = True) -> list[np.ndarray]:
        return [np.full(5, self.scores.get(text, -4.0) / 5) for text in texts]


@dataclass
class Table:
    """Where the first of a list's two scores goes, and where the second."""

    workspace: Path
    monkeypatch: pytest.MonkeyPatch

    def write(self, first_pass: bool) -> None:
        """As scores of the first pass and of one model; or (the first pass knows nothing) of two models."""
        models: dict[str, dict[str, float]] = {ONE: {}, OTHER: {}}
        for split, lists in splits().items():
            lines = json.loads(json.dumps(lists.lines))
            for line in lines:
                for each in line["hypotheses"]:
                    first, second = lists.scores[each["text"]]
                    each["score"] = first if first_pass else -4.0
                    models[ONE][each["text"]] = second if first_pass else first
                    models[OTHER][each["text"]] = -4.0 if first_pass else second
            write_jsonl(LAYOUT.nbest(LISTS) / f"{split}.jsonl", lines)

        def toys(params: Params, name: str) -> Iterator[tuple[Toy, int]]:
            for seed in params.seeds:
                yield Toy(name, models[name]), seed

        self.monkeypatch.setattr(rerank, "scorers", toys)

    def rows(self) -> dict[tuple[str, str, str, str], Result]:
        """By table, system, split and metric."""
        found: list[Result] = []
        for name in (ONE, OTHER):
            rerank.rerank(name)
            found += read_results(LAYOUT.rows("rerank", name))
        combine.combine_pairs()
        nothing_judged(read_params())
        compare.compare_systems()
        found += read_results(LAYOUT.rows("combine")) + read_results(LAYOUT.rows("compare"))
        found += first_pass_and_oracle(read_params())
        return {(row.table, row.system, row.split, row.metric): row for row in found}


@pytest.fixture
def table(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """Lists whose first-pass scores and one model's decide."""
    grid = {"start": 0.0, "stop": 1.0, "step": 0.1}
    change_settings(
        workspace / "params.yaml",
        {"evaluate.rerank": [ONE, OTHER], "rerank.weights": grid, "rerank.lengths": [3]},
    )
    made = Table(workspace, monkeypatch)
    made.write(first_pass=True)
    return made


def test_the_weight_of_dev_makes_every_row_of_test(table: Table) -> None:
    rows = table.rows()
    found = {key[1:]: row.value for key, row in rows.items() if key[0] == "rerank"}
    dev, test = 100 / DEV_WORDS, 100 / TEST_WORDS
    expected = {
        (ONE, "dev", "wer"): 1 * dev,
        (ONE, "test", "wer"): 4 * test,
        (ONE, "test", "wer-difference"): (4 - 8) * test,
        (ONE, "test", "weight"): 0.3,
        (ONE, "test", "wer-best-on-test"): 2 * test,
        (ONE, "test", "weight-best-on-test"): 0.7,
        (OTHER, "dev", "wer"): 2 * dev,
        (OTHER, "test", "wer"): 8 * test,
        (OTHER, "test", "wer-difference"): 0.0,
        (OTHER, "test", "weight"): 0.0,
        ("first-pass", "dev", "wer"): 2 * dev,
        ("first-pass", "test", "wer"): 8 * test,
        ("oracle", "dev", "wer"): 1 * dev,
        ("oracle", "test", "wer"): 1 * test,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert rows["rerank", ONE, "test", "wer"].n == 7


def test_each_curve_is_of_its_own_split(table: Table) -> None:
    table.rows()
    lines = [line.split(",") for line in LAYOUT.wer_curve(ONE).read_text().splitlines()[1:]]
    found = {(split, weight): float(value) for _, split, *_, weight, value in lines}
    dev, test = 100 / DEV_WORDS, 100 / TEST_WORDS
    expected = {
        ("dev", "0.3"): dev,
        ("dev", "0.7"): 2 * dev,
        ("test", "0.3"): 4 * test,
        ("test", "0.7"): 2 * test,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-5)


def test_jiwer_on_the_written_files_gives_the_rows_of_both_splits(table: Table) -> None:
    rows = table.rows()
    for split in ("dev", "test"):
        path = LAYOUT.reranked(LAYOUT.rescored(ONE), 1, ONE, LISTS, split)
        written = [json.loads(line) for line in path.read_text().splitlines()]
        rate = jiwer.wer([row["ref"] for row in written], [row["best"] for row in written])
        assert rows["rerank", ONE, split, "wer"].value == pytest.approx(100 * rate)


def test_two_systems_are_compared_the_first_minus_the_second(table: Table) -> None:
    rows = table.rows()
    name = f"{ONE} - {OTHER}"
    found = {key[3]: row.value for key, row in rows.items() if key[:3] == ("rerank-pairs", name, "test")}
    assert found["wer-difference"] == pytest.approx((4 - 8) * 100 / TEST_WORDS)
    assert (found["better"], found["worse"]) == (1, 0)


@pytest.mark.parametrize(
    ("owner", "step", "share"),
    [("rerank", 0.1, 0.3), (f"nbest.{LISTS}", 0.1, 0.3), (f"nbest.{LISTS}", 0.28, 0.28)],
)
def test_the_share_of_dev_makes_the_rows_of_a_pair(
    table: Table, owner: str, step: float, share: float
) -> None:
    """The first pass knows nothing; with all weight on the pair its share decides as the weight did above."""
    weights = {"start": 1.0, "stop": 1.0, "step": step}
    change_settings(
        table.workspace / "params.yaml", {"rerank.combine": [[ONE, OTHER]], f"{owner}.weights": weights}
    )
    table.write(first_pass=False)
    rows = table.rows()
    pair = f"{ONE}-and-{OTHER}"
    found = {key[2:]: row.value for key, row in rows.items() if key[:2] == ("rerank", pair)}
    assert found["test", "share"] == pytest.approx(share)
    assert found["test", "weight"] == 1.0
    assert found["dev", "wer"] == pytest.approx(1 * 100 / DEV_WORDS)
    assert found["test", "wer"] == pytest.approx(4 * 100 / TEST_WORDS)


#: Keys that are changed -> the rows of the model that must come out, (split, metric): value; None: no such row.
KEYS: list[tuple[dict[str, Any], dict[tuple[str, str], float | None]]] = [
    ({}, {("test", "weight"): 0.3, ("test", "wer"): 400 / TEST_WORDS, ("4-", "wer"): 400 / TEST_WORDS}),
    ({"rerank.weights": {"start": 0.0, "stop": 0.2, "step": 0.1}}, {("test", "weight"): 0.0}),
    ({"rerank.weights": {"start": 0.5, "stop": 1.0, "step": 0.25}}, {("test", "weight"): 0.5}),
    (
        {f"nbest.{LISTS}.weights": {"start": 0.5, "stop": 1.0, "step": 0.25}},
        {("test", "weight"): 0.5, ("test", "wer"): 400 / TEST_WORDS},
    ),
    # a fifth of the scores: "a" is won above 0.25 / (0.25 + 0.75 / 5) = 0.625, "b" below 0.73
    ({"rerank.score": "mean"}, {("test", "weight"): 0.7}),
    ({f"nbest.{LISTS}.score": "mean"}, {("test", "weight"): 0.7}),
    ({f"nbest.{LISTS}.normalise.lowercase": False}, {("test", "wer"): 500 / TEST_WORDS}),
    ({f"nbest.{LISTS}.normalise.strip_punctuation": False}, {("test", "wer"): 600 / TEST_WORDS}),
    ({"rerank.lengths": [5]}, {("0-5", "wer"): 400 / TEST_WORDS, ("4-", "wer"): None}),
    ({"rerank.lengths": []}, {("4-", "wer"): None}),
    ({f"nbest.{LISTS}.metric": "bleu"}, {("test", "wer"): None}),
]


@pytest.mark.parametrize(("keys", "expected"), KEYS, ids=lambda each: " ".join(map(str, each)) or "none")
def test_every_key_moves_its_rows(
    table: Table, keys: dict[str, Any], expected: dict[tuple[str, str], float | None]
) -> None:
    change_settings(table.workspace / "params.yaml", keys)
    rerank.rerank(ONE)
    found = {(row.split, row.metric): row.value for row in read_results(LAYOUT.rows("rerank", ONE))}
    for key, value in expected.items():
        assert found.get(key) == (value if value is None else pytest.approx(value)), key


def test_as_many_resamplings_as_are_asked_for_with_the_models_seed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One resampling makes no interval, two do; another seed draws others."""
    change_settings(
        table.workspace / "params.yaml", {"bootstrap": 1, "seeds": [1, 2], "rerank.combine": [[ONE, OTHER]]}
    )
    assert {row.ci_low for row in table.rows().values()} == {None}
    change_settings(table.workspace / "params.yaml", {"bootstrap": 2})
    monkeypatch.setattr(intervals, "LEAST_UNITS", 2)  # the lists are few
    monkeypatch.setattr(intervals, "LEAST_DRAWS", 2)
    rows = [row for row in table.rows().values() if row.ci_low is not None]
    assert {row.table for row in rows} == {"rerank", "rerank-length", "rerank-pairs", "reference-perplexity"}
    assert {row.system for row in rows} >= {
        ONE,
        OTHER,
        f"{ONE}-and-{OTHER}",
        f"{ONE} - {OTHER}",
        "first-pass",
    }
    found = [row for row in read_results(LAYOUT.rows("rerank", ONE)) if row.metric == "wer"]
    assert len({row.ci_low for row in found if row.split == "test"}) == 2
    assert {row.seed for row in read_results(LAYOUT.rows("combine"))} == {1, 2}
    assert {row.seed for row in read_results(LAYOUT.rows("compare"))} == {None}, "the mean over both"


def test_chosen_texts_stand_as_they_were_given_beside_what_was_counted(table: Table) -> None:
    path = LAYOUT.nbest(LISTS) / "test.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        for each in line["hypotheses"]:
            each["text"] = f"{each['text'].title()}!"
    write_jsonl(path, lines)
    rerank.rerank(ONE)
    written = LAYOUT.reranked(LAYOUT.rescored(ONE), 1, ONE, LISTS, "test").read_text().splitlines()
    for row, line in zip(map(json.loads, written), lines, strict=True):
        assert row["transcript"] in [each["text"] for each in line["hypotheses"]]
        assert row["best"] == row["transcript"].lower().removesuffix("!")
