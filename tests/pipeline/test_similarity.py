"""Sets of scored pairs as the stages judge systems on them, and the settings of word vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from pipeline.settings import read_params
from pipeline.similarity import YEARS, judged_splits, similarity_rows, texts_of
from quartet.config.evaluation import VectorsEntry
from quartet.config.loading import checked
from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.tasks.sts.data import ScoredPair

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


@pytest.mark.usefixtures("workspace")
def test_rows_of_a_system_on_every_set_and_on_the_mean_of_the_years() -> None:
    params = read_params()
    sets = [
        *judged_splits("stsb", "stsb", {"dev": pairs(1)}),
        *judged_splits("sts12", "semeval", {"a": pairs(2), "b": pairs(3)}),
        *judged_splits("sts13", "semeval", {"c": pairs(4)}),
    ]
    texts = texts_of(sets)
    assert len(texts) == len(set(texts)) <= 8
    vectors = np.random.default_rng(0).normal(size=(len(texts), 5)) + 1
    rows = similarity_rows(params, sets, texts, vectors, EvaluatedSystem("a/context", "cpu", "small", 3))
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
    alone = similarity_rows(params, sets[:2], texts, vectors, EvaluatedSystem("a", "cpu", "small"))
    assert YEARS not in {row.dataset for row in alone}, "one year has no mean"


def test_word_vectors_settings_are_checked() -> None:
    good = {"source": "glove.txt", "sha256": None, "format": "glove", "lowercase": True}
    found = checked(VectorsEntry, good, "params.yaml: vectors.glove")
    assert (found.source, found.sha256) == ("glove.txt", None)
    for change, reason in (
        ({"format": "gensim"}, "format"),
        ({"source": "https://example.org/glove.txt"}, "sha256 is needed for https"),
        ({"format": "fasttext"}, "format"),
        ({"lower": True}, "unknown key"),
    ):
        with pytest.raises(InputError, match=reason):
            checked(VectorsEntry, {**good, **change}, "params.yaml: vectors.glove")
