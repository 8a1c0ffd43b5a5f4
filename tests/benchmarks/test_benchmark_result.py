"""Figures and their table: what is demanded, what is refused, and what a file and a page keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.peers import table
from benchmarks.peers.benchmark_result import (
    BenchmarkFigure,
    BenchmarkResult,
    DemandedValue,
    EqualityCheck,
    at_least,
    at_most,
    equal,
)
from quartet.errors import InputError
from quartet.files import read_json, write_json

WHERE = {"device": "cpu (1 thread, X)", "torch": "2", "transformers": "5", "python": "3.11"}


@pytest.mark.parametrize(
    ("demand", "values", "met"),
    [
        (at_least(3), [2.0, 3.0, 9.0], True),
        (at_least(3), [2.9, 2.9, 9.0], False),
        (at_most(1.3), [1.4], False),
    ],
)
def test_the_median_is_what_a_demand_is_held_against(
    demand: DemandedValue, values: list[float], met: bool
) -> None:
    figure = BenchmarkFigure.of("a / b", values, demand)
    assert (figure.least, figure.largest, figure.met) == (min(values), max(values), met)
    assert BenchmarkFigure.of("a / b", values).met is None


def test_equal_outputs_are_noted_and_unequal_ones_refused() -> None:
    assert equal("scores", [1.0, 2.0], [1.0, 2.25], 0.5) == EqualityCheck("scores", 0.25, 0.5)
    with pytest.raises(InputError, match=r"scores: they differ by 0\.25, 0\.1 is allowed: nothing was timed"):
        equal("scores", [1.0, 2.0], [1.0, 2.25], 0.1)
    with pytest.raises(InputError, match="nothing was timed"):
        equal("scores", [1.0], [float("nan")], 0.1)
    with pytest.raises(InputError, match="nothing was timed"):
        equal("scores", [1.0], [1.0, 1.0], 0.1)


def record(*figures: BenchmarkFigure) -> dict[str, object]:
    return table.record(BenchmarkResult(list(figures)), WHERE, rounds=3, minutes=0.5)


def test_a_row_that_is_run_again_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    for name, value in (("list", 1.0), ("peak", 2.0), ("list", 3.0)):
        table.write_study(path, name, record(BenchmarkFigure.of(name, [value], at_most(2))))
    found = read_json(path)
    assert list(found) == ["list", "peak"]
    (figure,) = found["list"]["figures"]
    assert (figure["median"], figure["met"], found["list"]["rounds"]) == (3.0, False, 3)
    assert BenchmarkFigure.from_json(figure) == BenchmarkFigure.of("list", [3.0], at_most(2))


def test_a_file_of_others_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    write_json(path, {"a": 1})
    with pytest.raises(InputError, match="not what this command wrote"):
        table.write_study(path, "list", record())
    assert read_json(path) == {"a": 1}


def test_the_table_stands_between_the_marks_and_the_page_stays(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text(f"before\n\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    studies = {
        "peak": record(BenchmarkFigure.of("share", [51.0, 52.5, 60.0], at_least(50), "%")),
        "list": record(),
    }
    for _ in range(2):
        table.write_markdown(page, studies)
    text = page.read_text()
    assert text.startswith(f"before\n\n{table.BEGIN}\n") and text.endswith(f"{table.END}\nafter\n")
    assert "| `peak` | share | 52.50 % | 51.00 % | 60.00 % | at least 50 % | yes | 3 |" in text
    assert "cpu (1 thread, X); PyTorch 2, transformers 5:" in text and "old" not in text


@pytest.mark.parametrize("text", ["", "{0}", "{1}{0}", "{0}{1}{0}{1}"])
def test_a_page_without_its_marks_is_refused(tmp_path: Path, text: str) -> None:
    page = tmp_path / "speed.md"
    page.write_text(text.format(table.BEGIN, table.END))
    with pytest.raises(InputError, match="once each"):
        table.write_markdown(page, {})
    assert page.read_text() == text.format(table.BEGIN, table.END)
    with pytest.raises(InputError, match="cannot be read"):
        table.write_markdown(tmp_path / "none.md", {})
