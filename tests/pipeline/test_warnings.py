"""What the library warns of while a stage runs is printed, and its metric logged."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pipeline.mlflow_store import tracking_uri
from pipeline.params import load
from pipeline.tracking import stage_run


def test_a_jump_of_the_loss_becomes_a_line_and_a_metric(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient

    logger = logging.getLogger("quartet.training.divergence")
    with stage_run(load(), "report") as run:
        logger.warning("step 3: the loss jumped", extra={"metric": ("loss_jump/seed-1", 9.0, 3)})
        logger.warning("a plain warning")
    said = capsys.readouterr().err
    assert "warning: step 3: the loss jumped\n" in said and "warning: a plain warning\n" in said
    (point,) = MlflowClient(tracking_uri()).get_metric_history(run.id, "loss_jump/seed-1")
    assert (point.value, point.step) == (9.0, 3)
    assert not logging.getLogger("quartet").handlers, "nobody listens any more"


def test_nan_is_no_metric(workspace: Path) -> None:
    with pytest.raises(AssertionError, match="no numbers"), stage_run(load(), "report") as run:
        run.log_metric("loss", float("nan"))
