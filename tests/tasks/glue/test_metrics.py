"""GLUE's metrics: scikit-learn's and scipy's values, by hand, intervals; the leaderboard's files to the byte."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import f1_score, matthews_corrcoef

from quartet.statistics.intervals import Floats
from quartet.tasks.glue.data import TASKS, GlueExample
from quartet.tasks.glue.metrics import file_name, glue_measures, gold_of, overall, values, write_predictions

#: 4 right 1s, 3 right 0s, 2 wrong 1s, 1 wrong 0.
GOLD = np.array([1.0, 1, 1, 1, 0, 0, 0, 0, 0, 1])
SAID = np.array([1.0, 1, 1, 1, 0, 0, 0, 1, 1, 0])


def example(first: str, second: str | None, label: str | None, score: float | None = None) -> GlueExample:
    return GlueExample(0, first, second, label, score)


def test_the_formulas_by_hand() -> None:
    assert values(TASKS["rte"], GOLD, SAID) == {"accuracy": 0.7}
    both = values(TASKS["mrpc"], GOLD, SAID)
    assert both == pytest.approx({"accuracy": 0.7, "f1": 2 * 4 / (2 * 4 + 2 + 1)})
    assert overall(TASKS["mrpc"], GOLD, SAID) == pytest.approx((0.7 + 8 / 11) / 2)
    matthews = (4 * 3 - 2 * 1) / math.sqrt(6 * 5 * 5 * 4)
    assert values(TASKS["cola"], GOLD, SAID) == pytest.approx({"matthews": matthews})
    # deviations -1 0 1 of the one and -1 2 -1 of the other; ranks 1 2 3 and 1.5 3 1.5
    scores = values(TASKS["stsb"], np.array([1.0, 2, 3]), np.array([0.0, 3, 0]))
    assert scores == pytest.approx({"pearson": 0.0, "spearman": 0.0}, abs=1e-12)
    assert values(TASKS["stsb"], np.array([1.0, 2, 4]), np.array([1.0, 2, 3]))["spearman"] == pytest.approx(1)


@pytest.mark.parametrize("name", ["cola", "mrpc", "mnli"])
def test_measures_are_scikit_learns_and_their_intervals_those_of_its_resamples(name: str) -> None:
    generator = np.random.default_rng(5)
    gold = generator.integers(0, len(TASKS[name].labels), 150).astype(float)
    said = np.where(generator.random(150) < 0.3, generator.integers(0, 2, 150), gold).astype(float)
    found = glue_measures(TASKS[name], gold, said, samples=2000, seed=1)
    assert tuple(found) == TASKS[name].metrics
    score = {"f1": f1_score, "matthews": matthews_corrcoef}
    for metric, measure in found.items():
        assert measure.n == 150
        if metric == "accuracy":
            assert measure.value == pytest.approx(float((gold == said).mean()))
            continue
        assert measure.value == pytest.approx(score[metric](gold, said), abs=1e-12)
        drawn = generator.integers(0, 150, (600, 150))
        again = [score[metric](gold[rows], said[rows]) for rows in drawn]
        expected = np.quantile(again, [0.025, 0.975])
        assert (measure.ci_low, measure.ci_high) == pytest.approx(expected, abs=0.03)


def test_scores_are_scipys_with_ties() -> None:
    generator = np.random.default_rng(6)
    gold = np.round(generator.random(200) * 5, 1)
    said = np.round(gold + generator.normal(size=200), 1)
    found = glue_measures(TASKS["stsb"], gold, said, samples=200, seed=1)
    assert found["pearson"].value == pytest.approx(pearsonr(gold, said).statistic, abs=1e-12)
    assert found["spearman"].value == pytest.approx(spearmanr(gold, said).statistic, abs=1e-12)
    assert values(TASKS["stsb"], gold, said) == pytest.approx(
        {name: one.value for name, one in found.items()}
    )


def test_one_answer_only_has_no_correlation() -> None:
    assert values(TASKS["cola"], GOLD, np.ones(10)) == {"matthews": 0.0}
    measure = glue_measures(TASKS["cola"], GOLD, np.ones(10), 50, 1)["matthews"]
    assert (measure.value, measure.ci_low, measure.ci_high) == (0.0, None, None), "it is 0 in every resample"
    assert values(TASKS["mrpc"], GOLD, np.zeros(10)) == {"accuracy": 0.5, "f1": 0.0}
    assert glue_measures(TASKS["stsb"], GOLD, np.ones(10), 50, 1) == {}
    assert overall(TASKS["stsb"], GOLD, np.ones(10)) == -math.inf
    with pytest.raises(ValueError, match="predictions"):
        values(TASKS["rte"], GOLD, np.ones(9))


def test_labels_become_their_numbers() -> None:
    examples = [example("a", "b", label) for label in ("contradiction", "entailment")]
    assert gold_of(TASKS["mnli"], examples).tolist() == [2, 0]
    assert gold_of(TASKS["stsb"], [example("a", "b", None, 2.5)]).tolist() == [2.5]
    with pytest.raises(ValueError, match="hidden"):
        gold_of(TASKS["mnli"], [example("a", "b", None)])


def test_intervals_of_accuracy_are_wilsons() -> None:
    everything: Floats = np.ones(20)
    measure = glue_measures(TASKS["rte"], everything, everything, 50, 1)["accuracy"]
    assert (measure.value, measure.ci_high) == (1.0, 1.0)
    assert measure.ci_low is not None and 0.8 < measure.ci_low < 0.9


HIDDEN = [GlueExample(index, "a", "b", None) for index in (0, 1, 7)]


def test_every_test_set_has_its_file() -> None:
    names = [file_name(task, "test") for task in TASKS if task != "mnli"]
    names += [file_name("mnli", split) for split in ("test_matched", "test_mismatched", "diagnostic")]
    assert sorted(map(str, names)) == [
        "AX.tsv", "CoLA.tsv", "MNLI-m.tsv", "MNLI-mm.tsv", "MRPC.tsv", "QNLI.tsv", "QQP.tsv", "RTE.tsv", "SST-2.tsv",
        "STS-B.tsv", "WNLI.tsv",
    ]  # fmt: skip
    assert file_name("rte", "dev") is file_name("mnli", "dev_matched") is file_name("mnli", "test") is None


def test_bytes(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.tsv"
    for task, said, expected in (
        ("rte", [1.0, 0.0, 1.0], b"0\tnot_entailment\n1\tentailment\n7\tnot_entailment\n"),
        ("mnli", [0.0, 1.0, 2.0], b"0\tentailment\n1\tneutral\n7\tcontradiction\n"),
        ("cola", [0.0, 1.0, 1.0], b"0\t0\n1\t1\n7\t1\n"),
        ("stsb", [-0.2, 3.14159, 5.01], b"0\t0.000\n1\t3.142\n7\t5.000\n"),
    ):
        write_predictions(path, task, HIDDEN, np.array(said))
        assert path.read_bytes() == b"index\tprediction\n" + expected
    with pytest.raises(ValueError, match="3 examples"):
        write_predictions(path, "rte", HIDDEN, np.array([1.0]))
