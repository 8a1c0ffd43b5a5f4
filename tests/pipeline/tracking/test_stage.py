"""What every stage shares: what the library warns of is printed, and its metric reported."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.layout import Layout
from pipeline.settings import read_params
from pipeline.tracking.mlflow import tracking_uri
from pipeline.tracking.repro import Repro
from pipeline.tracking.stage import Stopwatch, read_timings, seconds_before, stage_run, write_end
from tests.imports import ROOT


def test_a_jump_of_the_loss_becomes_a_line_and_a_metric(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient

    params = read_params()
    logger = logging.getLogger("quartet.training.divergence")
    with stage_run(params, "report"):
        logger.warning("step 3: the loss jumped", extra={"metric": ("loss_jump/seed-1", 9.0, 3)})
        logger.warning("a plain warning")
    said = capsys.readouterr().err
    assert "warning: step 3: the loss jumped\n" in said and "warning: a plain warning\n" in said
    client = MlflowClient(tracking_uri())
    experiment = client.get_experiment_by_name(params.experiment)
    assert experiment is not None
    run, *_ = client.search_runs([experiment.experiment_id])
    (point,) = client.get_metric_history(run.info.run_id, "loss_jump/seed-1")
    assert (point.value, point.step) == (9.0, 3)
    assert not logging.getLogger("quartet").handlers, "nobody listens any more"


def test_a_figure_without_a_step_is_at_0_and_a_user_without_a_name_a_number(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container, whose number of a user stands in no list."""
    from mlflow import MlflowClient

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr("getpass.getuser", nameless)
    params = read_params()
    with stage_run(params, "report") as run:
        run.metric("tokens_cut", 7.0)
        run.tag("colour", "grey")
    client = MlflowClient(tracking_uri())
    experiment = client.get_experiment_by_name(params.experiment)
    assert experiment is not None
    found, *_ = client.search_runs([experiment.experiment_id])
    (point,) = client.get_metric_history(found.info.run_id, "tokens_cut")
    assert (point.value, point.step) == (7.0, 0)
    assert (found.data.tags["mlflow.user"], found.data.tags["colour"]) == (str(os.getuid()), "grey")


def test_nan_is_no_metric(workspace: Path) -> None:
    with pytest.raises(AssertionError, match="is no number"), stage_run(read_params(), "report") as run:
        run.metric("loss", float("nan"))


def test_durations_are_kept_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    layout = Layout("tiny", tmp_path)
    watch = Stopwatch(layout, "sts", "tta")
    watch.add("lee", 1.0, texts=50)
    watch.add("total", 2.0)
    watch.belongs_to("abc")
    watch.add("telling", 3.00004)
    rows = read_timings(layout, "sts", "tta", "abc")
    assert [(row["name"], row["seconds"]) for row in rows] == [("lee", 1.0), ("total", 2.0), ("telling", 3.0)]
    assert rows[0]["texts"] == 50


def test_durations_of_another_record_are_not_this_ones(tmp_path: Path) -> None:
    layout = Layout("tiny", tmp_path)
    Stopwatch(layout, "baselines").add("total", 9.0)
    watch = Stopwatch(layout, "baselines")
    watch.add("first", 1.0)
    watch.belongs_to("abc")
    assert [row["name"] for row in read_timings(layout, "baselines", "", "abc")] == ["first"]
    assert read_timings(layout, "baselines", "", "def") == []


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("", r"cpu \((?!\d+ thread).+\)"),
        ("import torch; torch.set_num_threads(1)", r"cpu \(1 thread, \S.*\)"),
    ],
)
def test_durations_say_what_computed(first: str, said: str) -> None:
    script = f"{first}\nfrom pipeline.run import hardware\nprint(hardware())"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert re.fullmatch(said, done.stdout.strip())


def test_nothing_is_known_of_what_never_ran(tmp_path: Path) -> None:
    assert read_timings(Layout("tiny", tmp_path), "sts", "tta", "") == []


def test_between_two_stages_of_a_dvc_repro_is_what_neither_took(tmp_path: Path) -> None:
    layout = Layout("tiny", tmp_path)
    Stopwatch(layout, "sts", "tta").add("total", 1.0)  # it lies beside the durations
    this, beside = (Repro("make", 0.0, "", dvc, 100.0) for dvc in ("p", "q"))
    assert seconds_before(layout, this, 103.0) == 3.0, "the first"
    before = time.time()
    write_end(layout, this)
    assert 5.0 <= seconds_before(layout, this, time.time() + 5.0) < 5.0 + time.time() - before + 0.01
    write_end(layout, None)
    assert seconds_before(layout, beside, 102.0) == 2.0, "another process of DVC's"
    assert seconds_before(layout, this, before - 5.0) == 0.0
