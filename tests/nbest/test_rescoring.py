"""Rescoring in one call: files or lists, a weight given or chosen, and what is refused."""

from __future__ import annotations

import doctest
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quartet
from quartet.errors import InputError
from quartet.nbest import rescoring
from quartet.nbest.formats import NBestFiles, jsonl
from quartet.nbest.normalise import Normalisation, default_normalisation
from quartet.nbest.rerank import Candidates, tune_and_apply, weight_grid
from quartet.nbest.rescored_file import write_rescored
from quartet.nbest.rescoring import rescore
from quartet.nbest.scores import score_lists, score_texts
from quartet.nbest.types import Hypothesis, NBest
from tests.nbest.lists import Words, nbest, random_lists

DEV, TEST = random_lists(60, seed=31), random_lists(80, seed=32)


def by_hand(lists: list[NBest]) -> Candidates:
    """The lists as the steps one by one score them; their texts are normalised already."""
    return Candidates(lists, score_lists(lists, score_texts(Words().token_logprobs, "sum")))


def test_it_is_the_steps_one_after_the_other(tmp_path: Path) -> None:
    outcome = tune_and_apply(by_hand(DEV), by_hand(TEST))
    assert 0 < outcome.weight < 1
    model = Words()
    found = rescore(model, TEST, tune=DEV)
    assert found.weight == outcome.weight
    assert (found.first_pass, found.value) == (outcome.first_pass.value, outcome.reranked.value)
    assert [row["utt"] for row in found] == [one.utterance for one in TEST]
    write_rescored(
        tmp_path / "steps.jsonl", by_hand(TEST), outcome.weight, default_normalisation("wer"), TEST
    )
    found.write(tmp_path / "call.jsonl")
    assert (tmp_path / "call.jsonl").read_bytes() == (tmp_path / "steps.jsonl").read_bytes()
    assert [json.loads(line) for line in (tmp_path / "call.jsonl").read_text().splitlines()] == list(found)
    assert found[1:3] == [found[1], found[2]]
    (asked,) = model.calls
    assert len(set(asked)) == len(asked), "each text once, though both sets have it"


def test_weights_to_try_take_the_place_of_the_search() -> None:
    grid = weight_grid(0.0, 1.0, 0.05)
    expected = tune_and_apply(by_hand(DEV), by_hand(TEST), grid)
    assert rescore(Words(), TEST, tune=DEV, weights=grid).weight == expected.weight in grid
    assert rescore(Words(), TEST, tune=DEV, weights=[0.25]).weight == 0.25
    assert rescore(Words(), TEST, tune=DEV).weight not in grid


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e8, 1e12])
def test_the_weight_that_is_shown_makes_the_same_choice(scale: float) -> None:
    """Scores of a size that only a weight near 1 can weigh against the language model's."""

    def scaled(lists: list[NBest]) -> list[NBest]:
        return [
            replace(
                one,
                hypotheses=tuple(
                    replace(each, score=scale * value)
                    for each, value in zip(one.hypotheses, one.first_pass, strict=True)
                ),
            )
            for one in lists
        ]

    found = rescore(Words(), scaled(TEST), tune=scaled(DEV))
    again = rescore(Words(), scaled(TEST), weight=float(found.weight_text))
    assert [row["best"] for row in again] == [row["best"] for row in found]
    assert again.value == found.value != found.first_pass
    on_dev = [
        rescore(Words(), scaled(DEV), weight=weight) for weight in (found.weight, float(found.weight_text))
    ]
    assert on_dev[0].value == on_dev[1].value


def test_a_weight_is_shown_in_few_digits_where_they_say_it() -> None:
    assert rescore(Words(), TEST, weight=0.063).weight_text == "0.063"
    assert rescore(Words(), TEST, weight=0).weight_text == "0"
    assert rescore(Words(), TEST, weight=1).weight_text == "1"
    assert len(rescore(Words(), TEST, tune=DEV).weight_text) <= len("0.123456")


def test_files_and_lists_are_the_same(tmp_path: Path) -> None:
    for name, lists in (("dev", DEV), ("test", TEST)):
        jsonl.write(tmp_path / name, lists)
    path = tmp_path / "test"
    files: list[Any] = [str(path), path, NBestFiles(path), NBestFiles(str(path))]  # type: ignore[arg-type]
    expected = list(quartet.rescore(Words(), TEST, tune=DEV))
    for test in files:
        assert list(quartet.rescore(Words(), test, tune=tmp_path / "dev", format="jsonl")) == expected


def test_names_of_files_are_paths(tmp_path: Path) -> None:
    texts = {
        "text": "u1-1 a b\nu1-2 a c\nu2-1 d\n",
        "cost": "u1-1 1\nu1-2 2\nu2-1 3\n",
        "ref": "a b (u1)\nd (u2)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    names = [str(tmp_path / name) for name in texts]
    files: Any = NBestFiles(names[0], [(names[1], 1.0)], names[2])  # type: ignore[arg-type]
    assert files == NBestFiles(tmp_path / "text", ((tmp_path / "cost", 1.0),), tmp_path / "ref")
    assert rescore(Words(), files, weight=0.0).value == 0.0


def test_weight_0_is_the_first_pass_and_1_the_language_model() -> None:
    first, last = (rescore(Words(), TEST, weight=weight) for weight in (0.0, 1.0))
    for one, row in zip(TEST, first, strict=True):
        assert [each["text"] for each in row["hypotheses"]] == [each.text for each in one.hypotheses]
    assert first.value == first.first_pass
    for row in last:
        lm = [each["lm"] for each in row["hypotheses"]]
        assert lm == sorted(lm, reverse=True) == [each["score"] for each in row["hypotheses"]]


def test_texts_are_normalised_for_word_errors_unless_told_otherwise() -> None:
    lists = [nbest("u", "A cat.", ("a cat", -1.0), ("A cat.", -2.0))]
    assert rescore(Words(), lists, weight=0.0).value == 0.0
    assert rescore(Words(), lists, weight=0.0)[0]["ref"] == "a cat"
    kept = rescore(Words(), lists, weight=0.0, normalise=Normalisation())
    assert (kept.value, kept[0]["ref"]) == (100.0, "A cat.")
    assert rescore(Words(), lists, weight=0.0, metric="bleu")[0]["ref"] == "A cat."


def test_without_any_reference_there_is_no_figure() -> None:
    found = rescore(Words(), [nbest("u", None, ("a", None), ("b", None))], weight=0.5)
    assert (found.first_pass, found.value, len(found)) == (None, None, 1)


def test_scores_are_kept_in_a_file(tmp_path: Path) -> None:
    found = rescore(Words(), TEST, tune=DEV, cache=tmp_path / "scores.sqlite")
    again = Words()
    assert list(rescore(again, TEST, weight=found.weight, cache=tmp_path / "scores.sqlite")) == list(found)
    assert again.calls == []


def test_malformed_lists_are_left_out_and_named(tmp_path: Path) -> None:
    good = {"hyp_1": {"score": -1.0, "text": "a"}, "ref": "a"}
    path = tmp_path / "lists.json"
    path.write_text(json.dumps({"u1": good, "u2": {"hyp_1": {"score": "x", "text": "a"}}}))
    with pytest.raises(InputError, match='utterance "u2"'):
        rescore(Words(), path, weight=0.5)
    found = rescore(Words(), path, weight=0.5, skip_malformed=True)
    assert [row["utt"] for row in found] == ["u1"]
    (refused,) = found.refused
    assert 'utterance "u2"' in refused.place
    with pytest.raises(InputError, match='utterance "u0": occurs twice'):
        rescore(Words(), [*TEST, TEST[0]], weight=0.5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "the weight is needed once; give either weight or tune"),
        ({"weight": 0.5, "tune": DEV}, "the weight is needed once"),
        ({"weight": 1.5}, "1.5 is not between 0 and 1"),
        ({"weight": float("nan")}, "nan is not between 0 and 1"),
        ({"weight": 0.5, "weights": [0.5]}, "there is nothing to try them on; give lists as tune"),
        ({"tune": DEV, "weights": []}, "are not one or more between 0 and 1"),
        ({"tune": DEV, "weights": [0.5, 1.5]}, "are not one or more between 0 and 1"),
        ({"weight": 0.5, "metric": "ter"}, "metric: .*'ter'; choose one of wer, cer, bleu"),
        ({"tune": [nbest("u", None, ("a", -1.0))]}, "none has a reference"),
        ({"tune": [nbest("u", "a", ("a", None))]}, "one set has first-pass scores and the other only ranks"),
        ({"tune": []}, "holds no N-best list"),
    ],
)
def test_mistakes_are_refused_before_anything_is_scored(options: dict[str, Any], said: str) -> None:
    model = Words()
    with pytest.raises(InputError, match=said):
        rescore(model, TEST, **options)
    assert model.calls == []
    with pytest.raises(InputError, match=r"format: .*'xml'; choose one of .*espnet, "):
        rescore(model, "lists.xml", weight=0.5, format="xml")


def test_the_mean_and_the_intact_input_are_handed_on() -> None:
    lists = [nbest("u", "a", ("a b", -1.0))]
    plain, mean, intact = (
        rescore(Words(), lists, weight=1.0, **options)[0]["hypotheses"][0]["lm"]
        for options in ({}, {"score": "mean"}, {"masked": False})
    )
    assert mean == plain / 2
    assert intact == plain - 2
    seen: list[tuple[int, int]] = []
    rescore(Words(), lists, weight=1.0, progress=lambda *point: seen.append(point))
    assert seen == [(1, 1)]


def test_the_worked_example() -> None:
    assert doctest.testmod(rescoring).failed == 0


def test_scores_are_numbers_that_json_knows() -> None:
    record = rescore(Words(), TEST, weight=0.5)[0]
    assert isinstance(record["hypotheses"][0]["lm"], float)
    assert not isinstance(record["hypotheses"][0]["lm"], np.floating)


def test_lists_that_are_tuned_on_are_counted(tmp_path: Path) -> None:
    """By texts and scores, whatever they are called and in whichever format and file they lie."""
    a = nbest("a", "x y", ("x y", -1.0), ("x z", -2.0))
    b = nbest("b", "y", ("y", -1.0), ("z", -2.0))
    alone = nbest("c", "y", ("y", -1.0))  # no weight can change its choice
    for test, tune, count in (
        ([a, b, alone], [a, b, alone], 2),
        ([a, b], [replace(a, utterance="other", reference="x z")], 1),
        ([a], [replace(a, hypotheses=(Hypothesis("x y", -1.5), Hypothesis("x z", -2.0)))], 0),
        ([a], [b], 0),
    ):
        assert rescore(Words(), test, tune=tune).in_tune == count
        for name, lists in (("test", test), ("tune", tune)):
            jsonl.write(tmp_path / name, lists)
        found = rescore(Words(), tmp_path / "test", tune=tmp_path / "tune", format="jsonl")
        assert found.in_tune == count
    assert rescore(Words(), [a], weight=0.5).in_tune == 0
