"""What every stage shares: what the library warns of is printed, and its metric reported."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pipeline.loading import load
from pipeline.mlflow import tracking_uri
from pipeline.stage import stage_run


def test_a_jump_of_the_loss_becomes_a_line_and_a_metric(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient

    params = load()
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


def test_nan_is_no_metric(workspace: Path) -> None:
    with pytest.raises(AssertionError, match="is no number"), stage_run(load(), "report") as run:
        run.metric("loss", float("nan"))
