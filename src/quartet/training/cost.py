"""What a training will read, compute and need in memory, before it is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from quartet.config.model import POSITIONS, ModelConfig
from quartet.config.training import TrainingConfig
from quartet.data import open_source
from quartet.data.batch import Batch, BatchSource
from quartet.data.streams import StreamSource
from quartet.data.validation import validation_source
from quartet.models.architectures import build
from quartet.models.network import Memory
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import Objective
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from quartet.training import randomness
from quartet.training.flops import FORWARD_AND_BACKWARD, training_flops

#: Batches that stand for all others of a corpus.
SAMPLE = 256
#: Bytes of a number in fp32, the type of weights, gradients and AdamW's two moments in every precision.
FP32 = 4
MOMENTS = 2


@dataclass(frozen=True)
class ReadCounts:
    """What goes through a network.

    Attributes:
        tokens: real ones, without padding.
        targets: tokens predicted.
        pairs: keys attended to, summed over the real tokens.
    """

    tokens: float
    targets: float
    pairs: float

    def times(self, factor: float) -> ReadCounts:
        return ReadCounts(self.tokens * factor, self.targets * factor, self.pairs * factor)

    def flops(self, config: ModelConfig, vocabulary: int) -> float:
        """Of a training on it, forward and backward."""
        return training_flops(
            config, vocabulary, round(self.tokens), round(self.targets), self.pairs / self.tokens
        )


@dataclass(frozen=True)
class DeviceMemory:
    """Memory of one device.

    Attributes:
        weights, gradients, moments: of the parameters that the device keeps.
        gathered: of the layer whose weights and gradient ``fsdp`` brings together, and of what is in no layer.
        activations: what the forward pass keeps for the backward pass, of the rows that a device computes at once.
    """

    weights: float
    gradients: float
    moments: float
    gathered: float
    activations: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.moments + self.gathered + self.activations


def objective_of(config: ModelConfig, training: TrainingConfig) -> Objective:
    """The objective as the training sets it."""
    return OBJECTIVES[config.objective](
        training.mask_probability, training.max_selected, training.loss_on_specials
    )


def parameters(config: ModelConfig, vocabulary: int) -> int:
    """How many a network has; none of them is made."""
    with torch.device("meta"):
        return build(config, vocabulary, torch.zeros(vocabulary, dtype=torch.bool)).parameter_count


def read_counts(
    config: ModelConfig,
    training: TrainingConfig,
    vocabulary: int,
    corpus: tuple[TextTokenizer, EncodedCorpus, EncodedCorpus] | None,
) -> tuple[ReadCounts, ReadCounts]:
    """What the training steps of a training read, and all its validations.

    Args:
        corpus: the tokenizer and the encoded splits for training and validation, of whose batches some are looked at;
            None: inputs are taken to be as long as they may be, and a validation without a limit to read nothing.
    """
    points = -(-training.steps // min(training.validate_every, training.steps))
    if corpus is None:
        step = _of_batch(
            _full(config, training.batch_size), config, objective_of(config, training), vocabulary
        )
        return step.times(training.steps), step.times(training.validation_batches * points)
    tokenizer, *splits = corpus
    objective = objective_of(config, training)
    size, by = training.batch_size, training.batch_by
    train = open_source(config, splits[0], tokenizer, batch_size=size, seed=0, batch_by=by)
    valid = validation_source(
        config, splits[1], tokenizer, batch_size=size, batches=training.validation_batches, batch_by=by
    )
    batches = valid.steps_per_epoch
    few = training.steps if isinstance(train, StreamSource) else train.steps_per_epoch
    return (
        _mean(train, few, config, objective, vocabulary).times(training.steps),
        _mean(valid, batches, config, objective, vocabulary).times(batches * points),
    )


def validation_flops(read: ReadCounts, config: ModelConfig, vocabulary: int) -> float:
    """Of the forward pass alone."""
    return read.flops(config, vocabulary) / FORWARD_AND_BACKWARD if read.tokens else 0.0


def memory(
    config: ModelConfig, training: TrainingConfig, vocabulary: int, rows: int, shares: int
) -> DeviceMemory:
    """The memory of one device; what libraries and single operations need beside it is not counted.

    Activations are those that PyTorch keeps on a CPU for networks of one and two layers on one and two full inputs, in
    the training's precision (fp16 counts as bf16): their bytes grow in proportion to rows and layers.

    Args:
        rows: inputs that the device computes at once.
        shares: devices that divide the weights among them (1: none does).
    """
    every = parameters(config, vocabulary) * FP32
    layer = every - parameters(_cut(config, config.layers - 1), vocabulary) * FP32 if config.layers > 1 else 0
    rest = every - config.layers * layer
    return DeviceMemory(
        weights=every / shares,
        gradients=every / shares,
        moments=MOMENTS * every / shares,
        gathered=2 * (layer + rest) if shares > 1 else 0.0,
        activations=activations(config, training, vocabulary, rows),
    )


def activations(config: ModelConfig, training: TrainingConfig, vocabulary: int, rows: int) -> float:
    """Bytes that are kept for the backward pass of so many full inputs: see :func:`memory`."""
    (one, one_twice), (two, two_twice) = (
        [_kept(_cut(config, layers), training, vocabulary, few) for few in (1, 2)] for layers in (1, 2)
    )
    layers = config.layers - 1
    fixed = 2 * one - one_twice + layers * ((2 * two - two_twice) - (2 * one - one_twice))
    row = one_twice - one + layers * ((two_twice - two) - (one_twice - one))
    return float(fixed + rows * row)


def _kept(config: ModelConfig, training: TrainingConfig, vocabulary: int, rows: int) -> int:
    """Bytes of all that one forward pass saves, the parameters apart."""
    network = build(config, vocabulary, torch.zeros(vocabulary, dtype=torch.bool)).train()
    own = {parameter.untyped_storage().data_ptr() for parameter in network.parameters()}
    saved: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    objective = objective_of(config, training)
    labelled = objective.label(_full(config, rows), vocabulary, randomness.rows(0, randomness.CORRUPTION, 0))
    with (
        torch.autocast("cpu", torch.bfloat16, enabled=training.precision in ("bf16", "fp16")),
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
    ):
        loss, _ = objective.loss(network, labelled, _remembered(config, rows))
    assert loss.requires_grad  # what was saved is alive until here
    return sum(saved.values())


def _cut(config: ModelConfig, layers: int) -> ModelConfig:
    """The model with other layers, and with the attention of a GPU, which keeps no weights for its dropout."""
    return dataclasses.replace(config, layers=layers, attention_dropout=0.0, init_from=None)


def _full(config: ModelConfig, rows: int) -> Batch:
    """Inputs of frequent tokens, as long as the model takes them."""
    width = config.max_length
    ids_BT = torch.full((rows, width), len(SPECIALS))
    stream = config.reads == "streams"
    if not stream:
        ids_BT[:, 0], ids_BT[:, -1] = SPECIALS.index("[BOS]"), SPECIALS.index("[EOS]")
    positions_BTP = torch.zeros(rows, width, len(POSITIONS), dtype=torch.long)
    positions_BTP[..., POSITIONS.index("sequence")] = torch.arange(width)
    return Batch(
        ids_BT,
        positions_BTP,
        torch.ones(rows, width, dtype=torch.bool),
        following_B=ids_BT[:, -1] if stream else None,
    )


def _remembered(config: ModelConfig, rows: int) -> Memory | None:
    """A full memory, where the model has one."""
    length = config.recurrence.memory
    if config.architecture != "transformer-xl" or length == 0:
        return None
    positions_BMP = torch.zeros(rows, length, len(POSITIONS), dtype=torch.long)
    return Memory(torch.zeros(config.layers, rows, length, config.dim), positions_BMP)


def _mean(
    source: BatchSource, batches: int, config: ModelConfig, objective: Objective, vocabulary: int
) -> ReadCounts:
    """One of the first so many batches of an epoch, on average."""
    batches = min(batches, source.steps_per_epoch)
    if isinstance(
        source, StreamSource
    ):  # every window is full but the last, and the memory fills with the first ones
        read = np.arange(batches) * source.window
        tokens = source.batch_size * float(np.minimum(source.window, source.stream - read).mean())
        keys = source.window + float(np.minimum(config.recurrence.memory, read).mean())
        return ReadCounts(tokens, tokens, tokens * keys)
    chosen = np.unique(np.linspace(0, batches - 1, min(batches, SAMPLE)).round().astype(int))
    found = [_of_batch(source.batch(int(step)), config, objective, vocabulary) for step in chosen]

    def mean(of: Callable[[ReadCounts], float]) -> float:
        return sum(of(read) for read in found) / len(found)

    return ReadCounts(
        mean(lambda read: read.tokens), mean(lambda read: read.targets), mean(lambda read: read.pairs)
    )


def _of_batch(batch: Batch, config: ModelConfig, objective: Objective, vocabulary: int) -> ReadCounts:
    lengths_B = batch.real_BT.sum(dim=1)
    remembered = config.recurrence.memory if config.architecture == "transformer-xl" else 0
    pairs = int((lengths_B * (lengths_B + remembered)).sum())
    labelled = objective.label(batch, vocabulary, randomness.rows(0, randomness.CORRUPTION, 0))
    return ReadCounts(int(lengths_B.sum()), len(labelled.targets_N), pairs)
