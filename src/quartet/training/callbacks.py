"""What watches a training: resume points, and the report of each validation."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.io import TorchCheckpointIO

from quartet.files import atomic_path
from quartet.training.module import PretrainingModule

#: Called with (metric, value, step) at each validation.
MetricReporter = Callable[[str, float, int], None]
#: Called with (optimiser steps done, all steps).
Progress = Callable[[int, int], object]


class PlainFileCheckpointIO(TorchCheckpointIO):
    """Writes resume points where it is told: Lightning's own way leaves a file in /tmp when it is killed."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write one file.

        Raises:
            OSError: the disk is full.
        """
        content = io.BytesIO()  # torch, writing the file itself, would tell nothing of a full disk
        torch.save(checkpoint, content)
        Path(path).write_bytes(content.getbuffer())


class ResumePoint(pl.Callback):
    """Save everything needed to go on every `every` steps, into one file that is always whole.

    Where a validation falls on the same step, the file is written after it, so that its point of the curve is in it.
    """

    def __init__(self, path: Path, every: int, validate_every: int) -> None:
        self.path = path
        self.every = every
        self.validate_every = validate_every

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """After the last part of a batch: a resume point holds no half of an optimiser step."""
        if (
            trainer.global_step % self.validate_every
            and (batch.part + 1) % trainer.accumulate_grad_batches == 0
        ):
            self._save(trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.state.fn == "fit":
            self._save(trainer)

    def _save(self, trainer: pl.Trainer) -> None:
        step = trainer.global_step
        if step % self.every == 0 and step < (trainer.max_steps or 0):
            # all processes give their share; the first writes
            with atomic_path(self.path) if trainer.is_global_zero else nullcontext(self.path) as path:
                trainer.save_checkpoint(path)


class StepClock(pl.Callback):
    """How long the training's steps took, without the validations between them.

    Attributes:
        training: seconds so far.
    """

    def __init__(self) -> None:
        self.training = 0.0
        self._begun = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._begun = time.perf_counter()

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._stop(trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._begun = time.perf_counter()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._stop(trainer)

    def _stop(self, trainer: pl.Trainer) -> None:
        if trainer.state.fn != "fit":
            return
        now = time.perf_counter()
        self.training += now - self._begun
        self._begun = now


class ReportValidation(pl.Callback):
    """Hand each point of the validation curve to whoever keeps the books."""

    def __init__(self, report: MetricReporter) -> None:
        self.report = report

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, PretrainingModule)
        if pl_module.curve:
            step, loss = pl_module.curve[-1]
            self.report("validation_loss", loss, step)


class StepProgress(pl.Callback):
    """Tells `progress` after each batch how far the training is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self._progress(trainer.global_step, int(trainer.max_steps))
