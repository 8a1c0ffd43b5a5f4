"""The report's first line names what the models were trained on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quartet.results import Result
from stages.report import NOT_NOTED, computed_on

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
