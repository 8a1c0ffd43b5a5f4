"""The written result: input order, best first, and another tool's word error rate of it is ours."""

from __future__ import annotations

import json
from pathlib import Path

import jiwer
import numpy as np

from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates
from quartet.nbest.rescored_file import write_rescored
from tests.nbest.lists import nbest, random_lists
from tests.nbest.test_rerank import toy_scores

LOWER = Normalisation(lowercase=True)


def test_a_line_holds_the_list_best_first(tmp_path: Path) -> None:
    lists = [nbest("second", "b", ("a", -1.0), ("b", -2.0)), nbest("first", None, ("c", None))]
    write_rescored(
        tmp_path / "out.jsonl", Candidates(lists, [np.array([-5.0, -1.0]), np.array([-3.0])]), 0.5, LOWER
    )
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    counted = {"metric": "wer", "lowercase": True, "strip_punctuation": False}
    assert rows == [
        {
            "utt": "second",
            "ref": "b",
            "best": "b",
            "hypotheses": [
                {"text": "b", "first_pass": -2.0, "lm": -1.0, "score": -1.5},
                {"text": "a", "first_pass": -1.0, "lm": -5.0, "score": -3.0},
            ],
            "counted": counted,
        },
        {
            "utt": "first",
            "best": "c",
            "hypotheses": [{"text": "c", "first_pass": 0.0, "lm": -3.0, "score": -1.5}],
            "counted": counted,
        },
    ]


def test_jiwer_on_the_written_file_gives_the_reported_rate(tmp_path: Path) -> None:
    lists = random_lists(150, seed=10)
    subject = Candidates(lists, [toy_scores(one) for one in lists])
    write_rescored(tmp_path / "a.jsonl", subject, 0.4, LOWER)
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["utt"] for row in rows] == [one.utterance for one in lists]
    known = [row for row in rows if "ref" in row]
    rate = jiwer.wer([row["ref"] for row in known], [row["best"] for row in known])
    assert 100 * rate == subject.select(0.4).value
    for row, one in zip(rows, lists, strict=True):
        scores = [hypothesis["score"] for hypothesis in row["hypotheses"]]
        assert scores == sorted(scores, reverse=True)
        assert sorted(hypothesis["text"] for hypothesis in row["hypotheses"]) == sorted(
            hypothesis.text for hypothesis in one.hypotheses
        )
    write_rescored(tmp_path / "b.jsonl", subject, 0.4, LOWER)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
