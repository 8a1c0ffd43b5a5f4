"""An evaluation as a stage: its settings, the rows that it writes when it ends, and what it shows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.evaluation import evaluation
from pipeline.layout import Layout
from pipeline.tracking import progress
from quartet.results import EvaluatedSystem, Measure, read_results
from tests.stages.world import evaluate_by

SYSTEM = EvaluatedSystem("tta", "cpu", "3 layers", seed=7)
LAYOUT = Layout("made-up")


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The settings that each evaluation wants."""
    monkeypatch.chdir(tmp_path)
    params = SimpleNamespace(experiment="made-up", bootstrap=50, seeds=[5, 6])
    evaluate_by(params, monkeypatch)
    return params


def test_it_has_the_settings_and_writes_its_rows_at_the_end(made: Any) -> None:
    with evaluation("sts", "tta") as run:
        assert run.params is made
        assert (run.layout, run.samples, run.seed) == (LAYOUT, 50, 5)
        run.add({"pearson": Measure(0.5, 12)}, SYSTEM, "stsb")
        assert not LAYOUT.rows("sts", "tta").exists()
    (row,) = read_results(LAYOUT.rows("sts", "tta"))
    assert (row.experiment, row.table, row.system, row.value) == ("made-up", "sts", "tta", 0.5)


def test_rows_may_be_of_a_table_that_is_not_called_as_the_stage() -> None:
    with evaluation("combine", table="rerank") as run:
        run.add({"share": Measure(0.5, 12)}, SYSTEM, "lists")
    assert [row.table for row in read_results(LAYOUT.rows("combine"))] == ["rerank"]


def test_what_found_nothing_writes_no_row_and_a_file() -> None:
    def found_nothing() -> None:
        with evaluation("nli", "tta"):
            return

    found_nothing()
    assert read_results(LAYOUT.rows("nli", "tta")) == []


def test_an_error_leaves_the_rows_of_before() -> None:
    with evaluation("sts", "tta") as run:
        run.add({"pearson": Measure(0.5, 12)}, SYSTEM, "stsb")
    before = LAYOUT.rows("sts", "tta").read_bytes()
    with pytest.raises(KeyboardInterrupt), evaluation("sts", "tta") as run:
        run.add({"pearson": Measure(0.75, 12)}, SYSTEM, "stsb")
        raise KeyboardInterrupt
    assert LAYOUT.rows("sts", "tta").read_bytes() == before


def test_two_rows_of_one_figure_contradict_each_other() -> None:
    with pytest.raises(ValueError, match="two results"), evaluation("sts", "tta") as run:
        for value in (0.5, 0.75):
            run.add({"pearson": Measure(value, 12)}, SYSTEM, "stsb")


def test_it_is_shown_on_stderr(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.delenv("CI", raising=False)
    with evaluation("sts", "tta") as run:
        run.say("a line of it")
        with run.bar("steps", 2) as shown:
            shown.set(1)
            shown.advance()
        assert list(run.track("ab", "letters", 2)) == ["a", "b"]
    out, err = capfd.readouterr()
    assert out == ""
    assert "a line of it" in err
    assert "steps" in err and "letters" in err
