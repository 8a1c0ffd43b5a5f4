"""The table of hard boundaries: counted right, and read from well-formed passages only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from docs.quoted.boundaries import GOLD, SentenceSequence, boundary_errors, passages
from quartet.errors import InputError
from quartet.text.segmenter import Segmenter
from tests.imports import ROOT


def test_there_are_a_hundred_boundaries() -> None:
    gold = passages(ROOT / GOLD)
    assert sum(len(passage.ends) for passage in gold) == 100
    assert len({passage.text for passage in gold}) == len(gold)


def test_boundaries_are_counted() -> None:
    class Cutter:
        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [(0, 4), (4, 8), (8, len(text))]

    errors = boundary_errors(
        Segmenter(Cutter(), ""), [SentenceSequence("a", ("One.", "Two or so.", "Three."))]
    )
    assert (errors.right, errors.wrong, errors.missed) == (1, {"a": 1}, {"a": 1})
    assert (errors.precision, errors.recall) == (0.5, 0.5)


@pytest.mark.parametrize(
    "row",
    [
        {"sentences": ["A.", "B."]},
        {"kind": "a", "sentences": ["A."]},
        {"kind": "a", "sentences": ["A. ", "B."]},
        {"kind": "a", "sentences": ["A.", "B."], "between": "-"},
    ],
)
def test_what_is_no_passage_is_refused(tmp_path: Path, row: object) -> None:
    (tmp_path / "gold.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match=r"gold\.jsonl:1: no passage"):
        passages(tmp_path / "gold.jsonl")
