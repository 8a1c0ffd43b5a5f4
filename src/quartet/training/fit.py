"""Train one model for one seed, from the first step or from where an earlier run was stopped."""

from __future__ import annotations

import itertools
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import TQDMProgressBar
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from quartet.data import open_source
from quartet.data.batch import Batch, BatchSource
from quartet.data.sentences import SentenceSource
from quartet.errors import InputError
from quartet.models.architectures import build_for
from quartet.models.config import ModelConfig
from quartet.models.from_bert import Filled, fill
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import randomness
from quartet.training.callbacks import Clock, Report, ReportValidation, ResumePoint
from quartet.training.config import TrainingConfig
from quartet.training.module import PretrainingModule


@dataclass(frozen=True)
class Work:
    """What one run of a training did.

    Attributes:
        seconds: of its steps, without validations.
        waiting: seconds of these that went into making batches.
        targets: tokens predicted.
        pairs: keys attended to, summed over the real tokens.
        places: tokens that went through the network, padding included.
    """

    seconds: float
    waiting: float
    targets: int
    pairs: int
    places: int


@dataclass(frozen=True)
class Trained:
    """The outcome of a training.

    Attributes:
        network: with the last step's weights, in evaluation mode, on the CPU.
        filled: what was taken from the BERT of ``init_from``; None: nothing, or an earlier run took it.
        best, best_step: the weights at the lowest point of the curve, and their step.
        curve: (step, validation loss in nats a target); the last point belongs to the weights.
        targets: targets behind each point.
        tokens: real tokens read.
        cut: training tokens lost an epoch because their sentence is over the maximum length.
        seconds: of this run (from the resume point, if there was one); `steps` and `run_tokens` were done in it.
        work: what this run did in the seconds of its steps.
    """

    network: Network
    filled: Filled | None
    best: dict[str, Tensor]
    best_step: int
    curve: list[tuple[int, float]]
    targets: int
    tokens: int
    cut: int
    seconds: float
    steps: int
    run_tokens: int
    work: Work


class _Training(IterableDataset[Batch]):
    """The batches of a source from a step on, each in its parts, without end."""

    def __init__(self, source: BatchSource, start: int, parts: int, targets: Callable[[Batch], int]) -> None:
        self.source = source
        self.start = start
        self.parts = parts
        self.targets = targets
        self.seconds = 0.0  # spent on making batches

    def __iter__(self) -> Iterator[Batch]:
        for step in itertools.count(self.start):
            begun = time.perf_counter()
            batch = self.source.batch(step)
            parts = [batch] if self.parts == 1 else batch.split(self.parts, self.targets(batch))
            self.seconds += time.perf_counter() - begun
            yield from parts


class _Validation(IterableDataset[Batch]):
    """The first `count` batches of a source."""

    def __init__(self, source: BatchSource, count: int) -> None:
        self.source = source
        self.count = count

    def __iter__(self) -> Iterator[Batch]:
        for step in range(self.count):
            yield self.source.batch(step)


def lightning_precision(precision: str, device: str) -> Literal["32-true", "bf16-mixed", "16-mixed"]:
    """Lightning's word for a precision.

    Raises:
        InputError: fp16 without a GPU, which has no use for it.
    """
    if precision == "fp32":
        return "32-true"
    if precision == "bf16":
        return "bf16-mixed"
    if not device.startswith("cuda"):
        raise InputError("training.precision", f"fp16 cannot be used on {device}", "take bf16 or fp32")
    return "16-mixed"


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
        InputError: the loss is no longer a number, or a setting does not fit the device, the vocabulary or the BERT
            to start from.
    """
    precision = lightning_precision(training.precision, device)
    silence_lightning()
    torch.manual_seed(randomness.seed_of(seed, randomness.INITIALISATION))
    network = build_for(model, tokenizer)
    filled = None
    if model.init_from is not None and not resume.is_file():
        filled = fill(network, tokenizer, model.init_from)
    objective = OBJECTIVES[model.objective](
        training.mask_probability, training.max_selected, training.loss_on_specials
    )
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
    clock = Clock()
    callbacks.append(clock)
    if report is not None:
        callbacks.append(ReportValidation(report))
    callbacks.append(ResumePoint(resume, training.checkpoint_every, validate_every))
    if progress:
        callbacks.append(TQDMProgressBar(refresh_rate=20))
    trainer = pl.Trainer(
        accelerator="gpu" if device.startswith("cuda") else "cpu",
        devices=1,
        max_steps=training.steps,
        accumulate_grad_batches=training.accumulate,
        precision=precision,
        val_check_interval=validate_every * training.accumulate,
        check_val_every_n_epoch=None,
        num_sanity_val_steps=0,
        gradient_clip_val=training.clip or None,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=progress,
        enable_model_summary=False,
        callbacks=callbacks,
    )
    validation = DataLoader(_Validation(valid_source, valid_batches), batch_size=None)
    batches = _Training(
        train_source,
        done,
        training.accumulate,
        lambda batch: objective.targets(batch, tokenizer.vocab_size),
    )
    begun = time.perf_counter()
    trainer.fit(
        module,
        DataLoader(batches, batch_size=None),
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
        filled,
        module.best,
        module.best_step,
        module.curve,
        module.validation_targets,
        module.tokens,
        train_source.cut if isinstance(train_source, SentenceSource) else 0,
        seconds,
        training.steps - done,
        module.tokens - tokens_before,
        Work(clock.training, batches.seconds, module.targets, module.pairs, module.places),
    )
