"""Two runs are compared row by row: what is the same, what moved and by how much, what is missing."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.same import FACTS, RESULTS, SHOWN, TOLERANCES, main, tolerance
from quartet.report.facts import RunFacts, facts_json
from quartet.results import Result, read_results, write_results
from tests.imports import ROOT
from tests.named import named


def row(table: str, system: str, metric: str, value: float, half: float | None = None) -> Result:
    """A row with an interval of `half` on either side."""
    return Result(
        experiment="e",
        table=table,
        **named(system),
        dataset="books",
        split="test",
        metric=metric,
        value=value,
        n=100,
        ci_low=None if half is None else value - half,
        ci_high=None if half is None else value + half,
        seed=1,
        device="cpu",
        scale="small",
    )


LOSS = row("perplexity", "tta", "loss", 5.0, 0.1)
WER = row("rerank", "tta", "wer", 20.0, 2.0)
FIRST = row("rerank", "first-pass", "wer", 22.0, 2.0)
SIZE = row("training", "tta", "parameters", 500_000)


def folder(path: Path, rows: list[Result], processor: str = "A") -> Path:
    """A report's folder, computed on a kind of processor."""
    path.mkdir(parents=True, exist_ok=True)
    write_results(path / RESULTS, rows)
    facts = RunFacts(experiment="e", device="cpu", seeds=(1,), processors=(processor,) if processor else ())
    (path / FACTS).write_text(facts_json(facts), encoding="utf-8")
    return path


def moved(one: Result, by: float) -> Result:
    """The row with everything moved."""
    ends = {} if one.ci_low is None else {"ci_low": one.ci_low + by, "ci_high": (one.ci_high or 0) + by}
    return replace(one, value=one.value + by, **ends)


def compared(tmp_path: Path, rows: list[Result], *options: str, processor: str = "A") -> int:
    """The exit code for a run with these rows beside a committed one with all four."""
    here = folder(tmp_path / "here", rows, processor)
    there = folder(tmp_path / "there", [LOSS, WER, FIRST, SIZE])
    return main([str(here), str(there), *options])


def test_equal_bytes_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(tmp_path, [LOSS, WER, FIRST, SIZE]) == 0
    assert "byte for byte" in capsys.readouterr().out


def test_on_one_processor_nothing_may_move(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(tmp_path, [moved(LOSS, 1e-9), WER, FIRST, SIZE], processor="") == 1, "none is noted"
    assert compared(tmp_path, [moved(LOSS, 1e-9), WER, FIRST, SIZE]) == 1
    said = capsys.readouterr().out
    assert "1 of 4 rows differ" in said and "perplexity books test tta loss, seed 1" in said
    assert "allowed 0" in said and "--tolerance" in said


@pytest.mark.parametrize(("options", "processor"), [(["--tolerance"], "A"), ([], "B")])
def test_on_another_or_when_told_rows_move_within_their_tolerances(
    tmp_path: Path, options: list[str], processor: str, capsys: pytest.CaptureFixture[str]
) -> None:
    loss, wer = 0.9 * tolerance(LOSS), 0.9 * tolerance(WER)
    near = [moved(LOSS, loss), moved(WER, -wer), FIRST, SIZE]
    assert compared(tmp_path, near, *options, processor=processor) == 0
    assert ": 2 of 4 rows differ, all within" in capsys.readouterr().out
    far = [moved(LOSS, loss), moved(WER, -1.2 * wer), FIRST, SIZE]
    assert compared(tmp_path, far, *options, processor=processor) == 1
    said = capsys.readouterr().out
    assert "rerank books test tta wer" in said and "tta loss" not in said


def test_a_row_may_move_by_all_that_is_allowed(tmp_path: Path) -> None:
    """A count of lists by a tenth of the lists."""
    better = row("rerank-pairs", "tta", "better", 5)
    for by, code in ((10, 0), (11, 1)):
        here, there = (
            folder(tmp_path / name, [one]) for name, one in (("a", moved(better, by)), ("b", better))
        )
        assert main([str(here), str(there), "--tolerance"]) == code


def test_an_end_of_an_interval_counts_as_the_value(tmp_path: Path) -> None:
    wide = replace(WER, ci_high=(WER.ci_high or 0) + 1.1 * tolerance(WER))
    assert compared(tmp_path, [LOSS, wide, FIRST, SIZE], "--tolerance") == 1


def test_a_p_value_follows_from_what_is_compared(tmp_path: Path) -> None:
    """With the tolerances it may be any; else it is a figure as others are, and one that is gone is named."""
    change = replace(row("rerank-pairs", "tta", "wer-difference", 0.1, 0.4), p=0.6)
    for p, tolerant, code in ((0.9, True, 0), (0.9, False, 1), (None, True, 1)):
        here, there = folder(tmp_path / "a", [replace(change, p=p)]), folder(tmp_path / "b", [change])
        assert main([str(here), str(there), *(["--tolerance"] if tolerant else [])]) == code


def test_what_moved_most_between_runs_of_the_sample_is_within_its_tolerance(tmp_path: Path) -> None:
    """Of each metric, among the committed reports that docs/determinism.md names."""
    moves = ROOT / "tests" / "fixtures" / "other_kind"
    here, there = (
        folder(tmp_path / name, read_results(moves / f"{name}.jsonl"), name) for name in ("here", "there")
    )
    assert main([str(here), str(there)]) == 0


def test_sums_of_what_is_not_trained_may_end_in_another_digit(tmp_path: Path) -> None:
    rows = [LOSS, WER, moved(FIRST, 1e-12 * FIRST.value / 2), SIZE]
    assert compared(tmp_path, rows, "--tolerance") == 0


@pytest.mark.parametrize("rows", [[LOSS, WER, moved(FIRST, 1e-9), SIZE], [LOSS, WER, FIRST, moved(SIZE, 1)]])
def test_what_no_training_reaches_stays_equal_everywhere(tmp_path: Path, rows: list[Result]) -> None:
    assert compared(tmp_path, rows, "--tolerance", processor="B") == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([LOSS, WER, SIZE], "rerank books test first-pass wer, seed 1: missing"),
        (
            [LOSS, WER, FIRST, SIZE, row("sts", "tta", "pearson", 0.1)],
            "sts books test tta pearson, seed 1: not in",
        ),
        ([LOSS, replace(WER, n=99), FIRST, SIZE], "n is 99, committed 100"),
        ([LOSS, replace(WER, ci_low=None), FIRST, SIZE], "ci_low is None, committed 18.0"),
    ],
)
def test_other_rows_and_other_facts_are_named(
    tmp_path: Path, rows: list[Result], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, rows, "--tolerance") == 1
    assert said in capsys.readouterr().out


def test_the_first_rows_alone_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [replace(LOSS, dataset=f"set-{number:02}") for number in range(25)]
    there = folder(tmp_path / "there", rows)
    here = folder(tmp_path / "here", [moved(one, 1.0) for one in rows])
    assert main([str(here), str(there)]) == 1
    said = capsys.readouterr().out
    assert said.count("moved by") == SHOWN and "25 of 25" in said


def test_the_first_tolerance_that_fits_counts() -> None:
    assert all(one.metrics for one in TOLERANCES) and TOLERANCES[-1].metrics == ".*"
    assert tolerance(row("rerank", "tta", "weight", 0.3)) == pytest.approx(0.1)
    assert tolerance(row("rerank", "ngram-5-and-tta", "wer", 20.0, 2.0)) > 0, "a mixture has a trained part"


def test_the_last_commit_is_what_a_run_is_compared_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    report = folder(Path("reports/e"), [LOSS, WER])
    assert main([str(report)]) == 2, "nothing is committed"
    assert "git has no committed version" in capsys.readouterr().err
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *command], check=True)
    assert main([str(report)]) == 0
    folder(report, [moved(LOSS, 0.001), WER], "B")
    assert main([str(report)]) == 0, "another processor"
    folder(report, [moved(LOSS, 0.001), WER])
    assert main([str(report)]) == 1


def test_a_folder_without_results_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none")]) == 2
    assert "results.jsonl: no such file" in capsys.readouterr().err
