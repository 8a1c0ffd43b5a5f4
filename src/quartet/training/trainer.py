"""Lightning's Trainer as all trainings here use it: silent, with resume points and a validation after the last step."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytorch_lightning as pl
import torch

from quartet.config.training import ON_GPU_ONLY, TrainingConfig
from quartet.errors import InputError
from quartet.training.callbacks import PlainFileCheckpointIO, Progress, ResumePoint, StepProgress
from quartet.training.distributed import Machine
from quartet.training.divergence import CurveModule
from quartet.training.optim import OptimiserSettings

#: One process on one device.
ONE = Machine()

LightningPrecision = Literal["32-true", "bf16-mixed", "16-mixed"]


def set_precision(precision: str, device: str) -> LightningPrecision:
    """Lightning's word for a precision; it also sets whether a GPU's products of float32 are TF32 from here on.

    Raises:
        InputError: fp16 or tf32 without a GPU, which has no use for it.
    """
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    if precision == "fp32":
        return "32-true"
    if precision == "bf16":
        return "bf16-mixed"
    if precision in ON_GPU_ONLY and not device.startswith("cuda"):
        raise InputError("training.precision", f"{precision} cannot be used on {device}", "take bf16 or fp32")
    return "32-true" if precision == "tf32" else "16-mixed"


def quiet_trainer(device: str, training: OptimiserSettings, **settings: Any) -> pl.Trainer:
    """A trainer that shows, logs and keeps nothing by itself.

    Args:
        settings: of ``pl.Trainer``, beside those that every training has.
    """
    for name in (
        "pytorch_lightning",
        "lightning.pytorch",
        "pytorch_lightning.utilities.rank_zero",
        "lightning_fabric",
    ):
        logging.getLogger(name).setLevel(logging.ERROR)  # its advice is for other programs
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    warnings.filterwarnings("ignore", module="torch.utils.data")
    return pl.Trainer(
        accelerator="gpu" if device.startswith("cuda") else "cpu",
        precision=set_precision(training.precision, device),
        max_steps=training.steps,
        gradient_clip_val=training.clip or None,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **settings,
    )


def train_steps(
    module: CurveModule,
    batches: Iterable[Any],
    validation: Iterable[Any],
    training: TrainingConfig,
    resume: Path,
    *,
    device: str,
    machine: Machine = ONE,
    rounds: int,
    callbacks: Sequence[pl.Callback] = (),
    progress: Progress | None = None,
) -> float:
    """Train to the last step, and validate there, from the resume point where there is one.

    Args:
        batches: from the resume point's step on; `rounds` of them are a step.
        callbacks: what sees a validation before its resume point is written.

    Returns:
        the seconds.
    """
    every = min(training.validate_every, training.steps)
    callbacks = [*callbacks, ResumePoint(resume, training.checkpoint_every, every)]
    if progress is not None:
        callbacks.append(StepProgress(progress))
    trainer = quiet_trainer(
        device,
        training,
        strategy=machine.lightning(),
        devices=machine.devices,
        num_nodes=machine.nodes,
        accumulate_grad_batches=rounds,
        val_check_interval=every * rounds,
        check_val_every_n_epoch=None,
        num_sanity_val_steps=0,
        callbacks=callbacks,
        plugins=[PlainFileCheckpointIO()],
    )
    begun = time.perf_counter()
    point = str(resume) if resume.is_file() else None
    trainer.fit(module, batches, validation, ckpt_path=point, weights_only=True)
    if not module.curve or module.curve[-1][0] != training.steps:
        trainer.validate(module, validation, verbose=False)
        module.curve[-1] = (training.steps, module.curve[-1][1])
    return time.perf_counter() - begun
