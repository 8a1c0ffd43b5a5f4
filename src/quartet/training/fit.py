"""Train one model for one seed, from the first step or from where an earlier run was stopped."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import TQDMProgressBar
from torch.utils.data import DataLoader, IterableDataset

from quartet.data import open_source
from quartet.data.batch import Batch, BatchSource
from quartet.data.sentences import SentenceSource
from quartet.models.architectures import build
from quartet.models.config import ModelConfig
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import randomness
from quartet.training.callbacks import Report, ReportValidation, ResumePoint
from quartet.training.config import TrainingConfig
from quartet.training.module import PretrainingModule


@dataclass(frozen=True)
class Trained:
    """The outcome of a training.

    Attributes:
        network: with the last step's weights, in evaluation mode, on the CPU.
        curve: (step, validation loss in nats a target); the last point belongs to the weights.
        targets: targets behind each point.
        tokens: real tokens read.
        cut: training tokens lost an epoch because their sentence is over the maximum length.
        seconds: of this run (from the resume point, if there was one); `steps` and `run_tokens` were done in it.
    """

    network: Network
    curve: list[tuple[int, float]]
    targets: int
    tokens: int
    cut: int
    seconds: float
    steps: int
    run_tokens: int


class _Steps(IterableDataset[Batch]):
    """The batches of a source from a step on; `count` of them, or without end."""

    def __init__(self, source: BatchSource, start: int, count: int | None) -> None:
        self.source = source
        self.start = start
        self.count = count

    def __iter__(self) -> Iterator[Batch]:
        step = self.start
        while self.count is None or step < self.start + self.count:
            yield self.source.batch(step)
            step += 1


def _loader(source: BatchSource, start: int = 0, count: int | None = None) -> DataLoader[Batch]:
    return DataLoader(_Steps(source, start, count), batch_size=None)


def silence_lightning() -> None:
    """Lightning's advice about loaders, loggers and tips is for other programs."""
    for name in ("pytorch_lightning", "lightning.pytorch", "pytorch_lightning.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    warnings.filterwarnings("ignore", module="torch.utils.data")


def fit(
    model: ModelConfig,
    training: TrainingConfig,
    tokenizer: TextTokenizer,
    train: EncodedCorpus,
    valid: EncodedCorpus,
    *,
    seed: int,
    resume: Path,
    device: str = "cpu",
    progress: bool = False,
    report: Report | None = None,
) -> Trained:
    """Train a model.

    Args:
        train, valid: the encoded splits.
        seed: of initialisation, data order, masks and dropout.
        resume: the resume point; read where it exists, written every ``checkpoint_every`` steps. It must belong to this
            very configuration, data and seed: the caller names it by a hash of them.
        device: ``cpu`` or ``cuda``.
        report: gets each validation loss as it comes.

    Raises:
        InputError: the loss is no longer a number.
    """
    silence_lightning()
    torch.manual_seed(randomness.seed_of(seed, randomness.INITIALISATION))
    network = build(model, tokenizer.vocab_size)
    objective = OBJECTIVES[model.objective](training.mask_probability, training.loss_on_specials)
    module = PretrainingModule(network, objective, training, seed)
    done, tokens_before = 0, 0
    if resume.is_file():
        point = torch.load(resume, weights_only=True, map_location="cpu")
        done, tokens_before = int(point["global_step"]), int(point["quartet"]["tokens"])
    train_source = open_source(model, train, tokenizer, batch_size=training.batch_size, seed=seed)
    valid_source = open_source(model, valid, tokenizer, batch_size=training.batch_size, seed=None)
    valid_batches = min(
        valid_source.steps_per_epoch, training.validation_batches or valid_source.steps_per_epoch
    )
    callbacks: list[pl.Callback] = []
    validate_every = min(training.validate_every, training.steps)
    if report is not None:
        callbacks.append(ReportValidation(report))
    callbacks.append(ResumePoint(resume, training.checkpoint_every, validate_every))
    if progress:
        callbacks.append(TQDMProgressBar(refresh_rate=20))
    trainer = pl.Trainer(
        accelerator="gpu" if device.startswith("cuda") else "cpu",
        devices=1,
        max_steps=training.steps,
        val_check_interval=validate_every,
        check_val_every_n_epoch=None,
        num_sanity_val_steps=0,
        gradient_clip_val=training.clip or None,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=progress,
        enable_model_summary=False,
        callbacks=callbacks,
    )
    validation = _loader(valid_source, count=valid_batches)
    begun = time.perf_counter()
    trainer.fit(
        module,
        _loader(train_source, start=done),
        validation,
        ckpt_path=str(resume) if done else None,
        weights_only=True,
    )
    if not module.curve or module.curve[-1][0] != training.steps:
        trainer.validate(module, validation, verbose=False)
        module.curve[-1] = (training.steps, module.curve[-1][1])
    seconds = time.perf_counter() - begun
    return Trained(
        network.eval().cpu(),
        module.curve,
        module.validation_targets,
        module.tokens,
        train_source.cut if isinstance(train_source, SentenceSource) else 0,
        seconds,
        training.steps - done,
        module.tokens - tokens_before,
    )
