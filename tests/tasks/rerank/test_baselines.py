"""The first pass and the oracle: their figures, also by length, and the seed of their intervals."""

from __future__ import annotations

import jiwer
import pytest

from quartet.nbest.metrics import CountTable
from quartet.nbest.normalise import Normalisation
from quartet.nbest.word_errors import WordErrorRate
from quartet.results import Result
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.rerank.baselines import first_pass_and_oracle
from quartet.tasks.rerank.protocol import JudgedSplit
from tests.nbest.lists import random_lists

SPLITS = {"dev": random_lists(60, 20), "test": random_lists(60, 21)}


def rows(seed: int) -> dict[tuple[str, str, str], Result]:
    """By table, system and split."""
    plain = Normalisation(False, False)
    splits = {
        name: JudgedSplit(lists, CountTable.of(lists, WordErrorRate()), lists, plain)
        for name, lists in SPLITS.items()
    }
    run = Evaluation("made-up", "none", samples=200, seed=seed)
    first_pass_and_oracle(run, "lists", splits, [3])
    return {(row.table, row.system, row.split): row for row in run.rows}


def test_the_first_pass_takes_the_highest_score_and_the_oracle_the_fewest_errors() -> None:
    found = rows(1)
    assert {key[1:] for key in found if key[0] == "rerank"} == {
        (system, split) for system in ("first-pass", "oracle") for split in SPLITS
    }
    for split, lists in SPLITS.items():
        known = [one for one in lists if one.reference]
        references = [one.reference or "" for one in known]
        best = [max(one.hypotheses, key=lambda each: each.score or 0).text for one in known]
        inserted = sum(
            len(max(one.hypotheses, key=lambda each: each.score or 0).text.split())
            for one in lists
            if one.reference == ""
        )
        words = sum(len(text.split()) for text in references)
        errors = jiwer.wer(references, best) * words + inserted
        assert found["rerank", "first-pass", split].value == pytest.approx(100 * errors / words)
        assert found["rerank", "oracle", split].value < found["rerank", "first-pass", split].value
    assert {row.seed for row in found.values()} == {None}


def test_by_length_there_is_test_alone() -> None:
    found = {key[1:]: row for key, row in rows(1).items() if key[0] == "rerank-length"}
    assert {split for _, split in found} == {"0-3", "4-"}
    for system in ("first-pass", "oracle"):
        parts = [found[system, split] for split in ("0-3", "4-")]
        assert sum(row.n for row in parts) == rows(1)["rerank", system, "test"].n


def test_intervals_are_resampled_with_the_seed_of_the_run() -> None:
    one, again, other = rows(1), rows(1), rows(2)
    assert one == again
    for table in ("rerank", "rerank-length"):
        assert {key for key in one if key[0] == table and one[key].ci_low != other[key].ci_low}, table
    assert {key: row.value for key, row in one.items()} == {key: row.value for key, row in other.items()}
