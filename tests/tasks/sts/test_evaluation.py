"""Sets of scored pairs as systems are judged on them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.sts.data import ScoredPair
from quartet.tasks.sts.evaluation import YEARS, judge, judged_splits, texts_of

WORDS = ["river", "stone", "a green hill", "rain", "the old mill", "hay", "barn", "noon"]


def pairs(seed: int, count: int = 12) -> list[ScoredPair]:
    draw = np.random.default_rng(seed)
    return [
        ScoredPair(WORDS[draw.integers(8)], WORDS[draw.integers(8)], float(draw.uniform(0, 5)))
        for _ in range(count)
    ]


def test_splits_stand_alone_and_sub_tasks_together() -> None:
    splits = {"train": pairs(1), "dev": pairs(2), "test": pairs(3, 20)}
    found = judged_splits("stsb", "stsb", splits)
    assert [(one.dataset, one.split, len(one.pairs.gold), one.year) for one in found] == [
        ("stsb", "dev", 12, False),
        ("stsb", "test", 20, False),
    ]
    (year,) = judged_splits("sts12", "semeval", {"MSRpar": pairs(4), "OnWN": pairs(5, 7)})
    assert (year.split, len(year.pairs.gold), year.year) == ("test", 19, True)
    assert year.pairs.parts is not None and np.bincount(year.pairs.parts).tolist() == [12, 7]


def test_a_set_without_a_correlation_is_named() -> None:
    alike = [ScoredPair(pair.first, pair.second, 3.0) for pair in pairs(1)]
    for name, form, parts in (
        ("stsb", "stsb", {"dev": alike}),
        ("sts12", "semeval", {"a": pairs(2), "b": alike}),
    ):
        sets = judged_splits(name, form, parts)
        texts = texts_of(sets)
        vectors = np.random.default_rng(0).normal(size=(len(texts), 5))
        run = Evaluation("made-up", "none", samples=10, seed=1)
        with pytest.raises(InputError) as refused:
            judge(run, EvaluatedSystem("a", "cpu", "small", 3), sets, texts, vectors)
        assert refused.value.place.startswith(f"a on {name} ")
        assert refused.value.remedy


def test_rows_of_a_system_on_every_set_and_on_the_mean_of_the_years() -> None:
    sets = [
        *judged_splits("stsb", "stsb", {"dev": pairs(1)}),
        *judged_splits("sts12", "semeval", {"a": pairs(2), "b": pairs(3)}),
        *judged_splits("sts13", "semeval", {"c": pairs(4)}),
    ]
    texts = texts_of(sets)
    assert len(texts) == len(set(texts)) <= 8
    vectors = np.random.default_rng(0).normal(size=(len(texts), 5)) + 1
    run = Evaluation("made-up", "none", samples=100, seed=1)
    judge(run, EvaluatedSystem("a", "cpu", "small", 3, "context"), sets, texts, vectors)
    rows = run.rows
    values = {(row.dataset, row.split, row.metric): row.value for row in rows}
    both = {"pearson", "spearman"}
    spread = {f"{metric}-{way}" for metric in both for way in ("mean", "weighted")}
    assert {key[2] for key in values if key[0] == "stsb"} == both
    assert {key[2] for key in values if key[0] == "sts12"} == both | spread
    assert {key[2] for key in values if key[0] == "sts13"} == both, "one sub-task needs no mean"
    assert values[YEARS, "test", "pearson-mean"] == pytest.approx(
        (values["sts12", "test", "pearson"] + values["sts13", "test", "pearson"]) / 2
    )
    place = {text: vectors[number] for number, text in enumerate(texts)}
    cosines = [
        place[pair.first]
        @ place[pair.second]
        / np.linalg.norm(place[pair.first])
        / np.linalg.norm(place[pair.second])
        for pair in pairs(1)
    ]
    expected = pearsonr(cosines, [pair.score for pair in pairs(1)]).statistic
    assert values["stsb", "dev", "pearson"] == pytest.approx(expected)
    assert {(row.table, row.system, row.seed, row.scale) for row in rows} == {
        ("sts", "a/context", 3, "small")
    }
    alone = Evaluation("made-up", "none", samples=100, seed=1)
    judge(alone, EvaluatedSystem("a", "cpu", "small"), sets[:2], texts, vectors)
    assert YEARS not in {row.dataset for row in alone.rows}, "one year has no mean"
