"""Results have one shape, one order, and no two of one thing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.results import Measure, Result, read_results, write_results

ROW = Result(
    experiment="tiny",
    table="sts",
    model="tta",
    dataset="lee",
    split="test",
    metric="pearson",
    value=0.5,
    n=1225,
    ci_low=0.4,
    ci_high=0.6,
    seed=1,
    device="cpu",
    scale="0.1 M parameters",
)


def test_the_same_results_are_the_same_bytes_in_whatever_order(tmp_path: Path) -> None:
    rows = [
        ROW,
        dataclasses.replace(ROW, seed=None),
        dataclasses.replace(ROW, model="bilm"),
        dataclasses.replace(ROW, seed=2),
    ]
    write_results(tmp_path / "a.jsonl", rows)
    write_results(tmp_path / "b.jsonl", reversed(rows))
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert sorted(read_results(tmp_path / "a.jsonl"), key=repr) == sorted(rows, key=repr)


def test_two_results_of_one_thing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two results for"):
        write_results(tmp_path / "a.jsonl", [ROW, dataclasses.replace(ROW, value=0.6)])
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_no_result(value: float) -> None:
    with pytest.raises(ValueError, match="it is not a result"):
        Measure(value, 3)
    with pytest.raises(ValueError, match="it is not a result"):
        Measure(0.5, 3, ci_low=value)
    with pytest.raises(ValueError, match="it is not a result"):
        dataclasses.replace(ROW, value=value)


@pytest.mark.parametrize(
    ("model", "reading", "versus", "shown"),
    [
        ("tta", "", "", "tta"),
        ("tta", "context", "", "tta/context"),
        ("bilm", "intact", "", "bilm-intact"),
        ("bilm", "intact/context", "", "bilm-intact/context"),
        ("bilm", "one-by-one/sts", "", "bilm-one-by-one/sts"),
        ("bilm", "intact", "tta", "bilm-intact - tta"),
    ],
)
def test_a_systems_name_is_made_of_its_fields(model: str, reading: str, versus: str, shown: str) -> None:
    assert dataclasses.replace(ROW, model=model, reading=reading, versus=versus).system == shown


def test_a_line_whose_system_is_not_what_its_fields_say_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"system": "bilm", **dataclasses.asdict(ROW)}) + "\n")
    with pytest.raises(InputError, match="'bilm', and its fields make 'tta'"):
        read_results(path)


@pytest.mark.parametrize("change", [{"metric": None}, {"extra": 1}], ids=["missing", "unknown"])
def test_a_line_that_is_no_result_is_named(tmp_path: Path, change: dict[str, object]) -> None:
    row = {"system": "tta", **dataclasses.asdict(ROW), **change}
    row = {key: value for key, value in row.items() if value is not None or key == "ci_low"}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"system": "tta", **dataclasses.asdict(ROW)}) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"rows\.jsonl:2: not a result"):
        read_results(path)
