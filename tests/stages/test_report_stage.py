"""What the report says of devices, and that durations reach no file but those of the times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.params import load
from quartet.results import Result
from stages import report
from stages.report import NOT_NOTED, computed_on
from tests.report.synthetic import facts, loss_curves, results, timings, wer_curves

MODELS = [f"model-{number}" for number in range(4)]


def took(stage: str, variant: str, device: str, split: str = "total") -> Result:
    """A duration of a stage."""
    return Result(
        experiment="e",
        table="duration",
        system=stage,
        dataset=variant,
        split=split,
        metric="seconds",
        seed=None,
        value=1.0,
        ci_low=None,
        ci_high=None,
        n=1,
        scale="one run",
        device=device,
    )


@pytest.mark.parametrize(
    ("trainings", "said"),
    [
        (["cpu (2 threads, A)"], "cpu (2 threads, A)"),
        (["cpu (2 threads, A)", "cuda (B)", "cpu (2 threads, A)"], "cpu (2 threads, A) and cuda (B)"),
        ([NOT_NOTED, "cuda (B)"], "cuda (B) and a device that was not noted"),
        ([], "cpu (1 thread, C)"),
    ],
)
def test_devices_of_the_trainings_are_said_once_each(trainings: list[str], said: str) -> None:
    """What another stage ran on is said only where no training is noted."""
    rows = [
        took("pretrain", f"model-{number}", device, "train/seed-1") for number, device in enumerate(trainings)
    ]
    assert computed_on([took("rerank", "model-0", "cpu (1 thread, C)"), *rows], MODELS) == said


def test_a_stage_that_found_its_trainings_done_says_where_they_were() -> None:
    done = [took("pretrain", "model-0", "cuda (B)", f"train/seed-{seed}") for seed in (1, 2)]
    assert computed_on([*done, took("pretrain", "model-0", "cpu (1 thread, C)")], MODELS) == "cuda (B)"


def test_without_durations_of_trainings_their_results_say_it() -> None:
    """DVC keeps results, and not durations: a report after `dvc pull` must not name what the report's stages ran on."""
    loss = replace(took("tta", "books", "cpu"), table="training", metric="loss")
    unigram = replace(loss, system="unigram", device="another processor")
    found = [took("rerank", "tta", "cpu (2 threads, A)"), loss, unigram]
    assert computed_on(found, ["tta"]) == "cpu"
    assert computed_on([*found, took("pretrain", "tta", "cuda (B)", "train/seed-1")], ["tta"]) == "cuda (B)"


def test_no_rows_have_no_device() -> None:
    assert not computed_on([], MODELS)


@pytest.mark.usefixtures("workspace")
def test_a_run_with_other_durations_changes_the_files_of_the_times_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    params, layout, found = load(), Layout("tiny"), results()
    monkeypatch.setattr(
        report, "gather", lambda params, layout, device, figures: replace(facts(), device=device)
    )
    monkeypatch.setattr(report, "curves", lambda params, layout: (loss_curves(), wer_curves()))
    monkeypatch.setattr(report, "read_article", lambda path: path)
    monkeypatch.setattr(report, "attention_maps", lambda path, maps: False)

    def written(slower: float, device: str) -> dict[Path, bytes]:
        timed = [
            replace(row, value=slower * row.value, ci_low=None, ci_high=None, device=device)
            for row in timings()
        ]
        lasted = [
            replace(took("pretrain", name, device, split), value=slower * place)
            for place, name in enumerate(("tta", "unilm"), 1)
            for split in ("train/seed-1", "total")
        ]
        monkeypatch.setattr(report, "timings", lambda layout: timed)
        monkeypatch.setattr(report, "durations", lambda params, layout: lasted)
        report.write_report(params, layout, found)
        report.write_times(params, layout, found)
        return {path: path.read_bytes() for path in layout.report.rglob("*") if path.is_file()}

    first, second = written(1.5, "cpu (2 threads, A)"), written(1.7, "cpu (1 thread, B, jemalloc)")
    assert set(first) == set(second) and len(first) > 20
    changed = {path.relative_to(layout.report).as_posix() for path in first if first[path] != second[path]}
    assert changed == {"times/timings.jsonl", "times/README.md", "times/index.html"}
    page = second[layout.times / "README.md"].decode()
    assert "trained on cpu (1 thread, B, jemalloc)" in page and "| `unilm` | seed-1 |" in page
    assert second[layout.times / "index.html"].count(b"<svg") == 3
