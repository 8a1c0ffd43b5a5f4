"""Train one model for one seed, from the first step or from where an earlier run was stopped."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.data import open_source
from quartet.data.batch import Batch, BatchSource
from quartet.data.sentences import SentenceSource
from quartet.data.validation import validation_source
from quartet.errors import InputError
from quartet.models.architectures import build_for
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import LabelledBatch
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import distributed, randomness
from quartet.training.callbacks import MetricReporter, Progress, ReportValidation, StepClock
from quartet.training.distributed import Machine
from quartet.training.from_bert import BertInitialisation, fill
from quartet.training.loader import AHEAD, Loader
from quartet.training.module import PretrainingModule
from quartet.training.trainer import ONE, set_precision, train_steps


@dataclass(frozen=True)
class TrainingWork:
    """What one run of a training did, in all its processes.

    Attributes:
        seconds: of its steps, without validations.
        waiting: seconds of these in which this process waited for batches.
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
class TrainedNetwork:
    """The outcome of a training.

    Attributes:
        network: with the last step's weights, in evaluation mode, on the CPU.
        filled: what was taken from the BERT of ``init_from``; None: nothing, or an earlier run took it.
        best, best_step: the weights at the lowest point of the curve, and their step.
        curve: (step, validation loss in nats per target); the last point belongs to the weights.
        targets: targets behind each point.
        tokens: real tokens read.
        cut: training tokens lost an epoch because their sentence is over the maximum length.
        seconds: of this run (from the resume point, if there was one); `steps` and `run_tokens` were done in it.
        work: what this run did in the seconds of its steps.
    """

    network: Network
    filled: BertInitialisation | None
    best: dict[str, Tensor]
    best_step: int
    curve: list[tuple[int, float]]
    targets: int
    tokens: int
    cut: int
    seconds: float
    steps: int
    run_tokens: int
    work: TrainingWork


class _TrainingBatches(IterableDataset[LabelledBatch]):
    """The batches of a source from a step on, of each the parts that are this process's own, without end.

    Every process makes the whole batch, so that what is in it depends on no number of devices.
    """

    def __init__(
        self,
        source: BatchSource,
        label: Callable[[Batch, int], LabelledBatch],
        start: int,
        rounds: int,
        trim: bool,
    ) -> None:
        """Args:
        label: what is asked of a part of a step's batch.
        trim: a part has no more columns than its rows need, and not one of few lengths, as a GPU wants them.
        """
        self.source = source
        self.label = label
        self.start = start
        self.rounds = rounds
        self.trim = trim

    def __iter__(self) -> Iterator[LabelledBatch]:
        for step in itertools.count(self.start):
            batch = self.source.batch(step)
            pieces = distributed.process_count() * self.rounds
            parts = [batch] if pieces == 1 else batch.split(pieces, self.trim)
            first = distributed.rank() * self.rounds
            for part in parts[first : first + self.rounds]:
                yield self.label(part, step)


class _ValidationBatches(IterableDataset[LabelledBatch]):
    """The batches of a source, of each the rows that are this process's own.

    What is asked of them is the same at every validation, so that the points of a curve differ by the model alone.
    """

    def __init__(self, source: BatchSource, label: Callable[[Batch, int], LabelledBatch]) -> None:
        self.source = source
        self.label = label

    def __iter__(self) -> Iterator[LabelledBatch]:
        for step in range(self.source.steps_per_epoch):
            batch, count = self.source.batch(step), distributed.process_count()
            yield self.label(batch if count == 1 else batch.split(count)[distributed.rank()], step)


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
    machine: Machine = ONE,
    progress: Progress | None = None,
    report: MetricReporter | None = None,
) -> TrainedNetwork:
    """Train a model, with all processes of `machine`, each of which calls this.

    Whatever their number, a step's batch is the same: each process computes some of its rows, with the masks that these
    rows would have had anywhere, and the loss is the mean over all targets of the batch.

    Args:
        train, valid: the encoded splits.
        seed: of initialisation, data order, masks and dropout.
        resume: the resume point; read where it exists, written every ``checkpoint_every`` steps. It must belong to this
            very configuration, data and seed: the caller names it by a hash of them.
        device: ``cpu`` or ``cuda``.
        machine: one process on one device, or several; another one may go on where a training was stopped.
        progress: called with the steps done and all steps.
        report: gets each validation loss as it comes.

    Returns:
        In the first process the outcome; in the others the weights may be missing.

    Raises:
        InputError: the corpus is encoded with another tokenizer, a split is empty, the loss or the gradient is no
            longer a number, or a setting does not fit the device, the vocabulary or the BERT to start from.
    """
    precision = set_precision(training.precision, device)
    if precision == "16-mixed" and machine.strategy == "fsdp":
        raise InputError(
            "trainer.strategy", "fsdp does not train in fp16", "take training.precision bf16, or ddp"
        )
    pieces = machine.processes * machine.rounds(training.accumulate)
    if pieces > training.batch_size:
        raise InputError(
            "trainer.devices",
            f"{machine.processes} of them divide a batch into {pieces} parts, and its batch_size is "
            f"{training.batch_size}",
            "take fewer devices, or lower training.accumulate",
        )
    for split, corpus in (("training", train), ("validation", valid)):
        corpus.check_tokenizer(tokenizer, "the model")
        if not len(corpus):
            raise InputError(
                f"the {split} split", "has no text", "bring more documents, or raise its share of them"
            )
    randomness.restart(seed, randomness.INITIALISATION)
    network = build_for(model, tokenizer)
    if training.compile:
        torch.compiler.reset()  # what an earlier training of this process compiled is of another network
        network.compile_layers()
    filled = None
    if model.init_from is not None and not resume.is_file():
        filled = fill(network, tokenizer, model.init_from)
    objective = OBJECTIVES[model.objective](
        training.mask_probability, training.max_selected, training.loss_on_specials
    )
    done = 0
    if resume.is_file():
        done = int(torch.load(resume, weights_only=True, map_location="cpu", mmap=True)["global_step"])
    on_gpu = device.startswith("cuda")
    size, by = training.batch_size, training.batch_by
    train_source = open_source(
        model, train, tokenizer, batch_size=size, seed=seed, batch_by=by, few_shapes=on_gpu
    )
    asked_for = training.validation_batches
    valid_source = validation_source(
        model, valid, tokenizer, batch_size=size, batches=asked_for, batch_by=by, few_shapes=on_gpu
    )
    lengths = train_source.row_lengths
    module = PretrainingModule(
        network,
        objective,
        training,
        seed,
        train_source.steps_per_epoch,
        objective.targets_per_step(lengths),
        lengths.rows,
        machine,
        device,
    )

    def label(use: int, batch: Batch, step: int) -> LabelledBatch:
        return objective.label(batch, network.vocabulary, randomness.rows(seed, use, step), network.edges)

    clock = StepClock()
    asked = partial(label, randomness.VALIDATION)
    validation = DataLoader(_ValidationBatches(valid_source, asked), batch_size=None)
    asked = partial(label, randomness.CORRUPTION)
    batches = Loader(
        _TrainingBatches(train_source, asked, done, module.rounds, trim=not on_gpu),
        ahead=AHEAD if on_gpu else 0,
    )
    seconds = train_steps(
        module,
        batches,
        validation,
        training,
        resume,
        device=device,
        machine=machine,
        rounds=module.rounds,
        callbacks=[clock, *([] if report is None else [ReportValidation(report)])],
        progress=progress,
    )
    if distributed.is_sharded(network):
        trained = distributed.weights(network)
        network = build_for(model, tokenizer)
        if trained:
            network.load_state_dict(trained)
    run = distributed.sum_over_processes([module.tokens, module.targets, module.pairs, module.places])
    tokens, targets, pairs, places = (int(value) for value in run)
    return TrainedNetwork(
        network.eval().cpu(),
        filled,
        module.best,
        module.best_step,
        module.curve,
        module.validation_targets,
        module.earlier_tokens + tokens,
        train_source.cut if isinstance(train_source, SentenceSource) else 0,
        seconds,
        training.steps - done,
        tokens,
        TrainingWork(clock.training, batches.waiting, targets, pairs, places),
    )
