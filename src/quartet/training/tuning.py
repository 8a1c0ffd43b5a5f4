"""Fine-tuning: a copy of a pre-trained network with a task's output on top, all of it trained for some epochs."""

from __future__ import annotations

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.utils.data import IterableDataset

from quartet.data.batch import Batch, Tensors, one_of_few
from quartet.errors import InputError
from quartet.files import atomic_path
from quartet.scoring.language_model import LanguageModel
from quartet.training import randomness
from quartet.training.divergence import SEEN_TOGETHER, DivergenceWatch, WatchedModule
from quartet.training.loader import AHEAD, Loader
from quartet.training.optim import build_optimiser
from quartet.training.trainer import quiet_trainer

if TYPE_CHECKING:
    from quartet.config.finetuning import FinetuneSettings, NliSettings, QuestionSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TuningSettings:
    """How long and how fast.

    Attributes:
        epochs: over the examples, each in a new order.
        batch_size: examples a step.
        learning_rate: the peak; it falls linearly to 0.
        warmup: share of the steps in which the rate rises.
        seed: of the new layers, the orders and the dropout.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    warmup: float
    seed: int

    @classmethod
    def of(cls, settings: FinetuneSettings | NliSettings | QuestionSettings, seed: int) -> TuningSettings:
        """That of an evaluation's settings, with a seed."""
        return cls(settings.epochs, settings.batch_size, settings.learning_rate, settings.warmup, seed)


@dataclass(frozen=True, kw_only=True)
class TuningOptimiser:
    """A tuning's optimiser: BERT's, AdamW with a warm-up and a linear decay.

    Attributes: as `quartet.config.training.TrainingConfig`'s.
    """

    steps: int
    learning_rate: float
    warmup: float
    precision: str
    schedule: str = "linear"
    schedule_steps: int = 0
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    clip: float = 1.0


#: Lengths that the batches of a tuning are padded to on a GPU. With the short batch of an epoch these are 16 shapes.
LENGTHS = 15

#: What to do about a tuning that diverges.
REMEDY = "lower its learning_rate, or let it rise over more steps (warmup)"

#: Called with (steps done, steps in all).
Progress = Callable[[int, int], None]

Example = TypeVar("Example")
Item = TypeVar("Item", bound=Tensors)
Tuned = TypeVar("Tuned", bound="TaskModel[Any, Any]")


class TaskModel(nn.Module, ABC, Generic[Example, Item]):
    """A copy of a model's network, which a subclass gives an output of its own.

    Attributes:
        model: the pre-trained model, for its tokenizer, card and device; its own network stays as it is.
        network: the copy.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model
        self.network = copy.deepcopy(model.network)

    @abstractmethod
    def batch(self, examples: Sequence[Example]) -> Item:
        """The examples as tensors, on the CPU."""

    @abstractmethod
    def loss(self, item: Item) -> Tensor:
        """The mean loss of a batch, a scalar."""

    def contextual(self, batch: Batch) -> Tensor:
        """(B, T, D): each token in its context; an MLM reads the intact input, a causal network from the left."""
        return self.model.objective.states(self.network, batch, masked=False).contextual_BTD

    def special(self, context_BTD: Tensor, batch: Batch) -> Tensor:
        """(B, D): of each row's states that of the special token that has read all of it.

        It is the first one, or a causal network's last one.
        """
        if not self.model.card.model.causal:
            return context_BTD[:, 0]
        rows_B = torch.arange(len(context_BTD), device=context_BTD.device)
        return context_BTD[rows_B, batch.real_BT.sum(1) - 1]

    def shaped(self, batch: Batch) -> Batch:
        """A batch to train on; for a GPU, which chooses its kernels anew for each shape, of one of few lengths."""
        if not self.model.device.startswith("cuda"):
            return batch
        width = one_of_few(batch.ids_BT.shape[1], self.model.card.model.max_length, LENGTHS)
        return batch.widened(width, self.model.tokenizer.pad_id)


def tune(
    task: TaskModel[Example, Any],
    examples: Sequence[Example],
    settings: TuningSettings,
    after_epoch: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> None:
    """Train a task's model in place; it is left in evaluation mode, on the device of the pre-trained model.

    New layers are the caller's to initialise (under `seeded`). The same seed gives the same weights on one machine.
    A model that was trained in bf16 is tuned in bf16, any other in fp32.

    Args:
        after_epoch: called with the number of epochs done, with the task's model in evaluation mode.
        progress: called with the steps done and all steps.

    Raises:
        ValueError: there are no examples.
        InputError: the loss, the gradient or a weight is no longer a number.
    """
    if not examples:
        raise ValueError("no examples to train on")
    if settings.batch_size > len(examples):
        logger.warning(
            "batch_size %s: a step has all %s examples", f"{settings.batch_size:,}", f"{len(examples):,}"
        )
    steps = -(-len(examples) // settings.batch_size)
    training = TuningOptimiser(
        steps=settings.epochs * steps,
        learning_rate=settings.learning_rate,
        warmup=settings.warmup,
        precision="bf16" if task.model.card.training.precision == "bf16" else "fp32",
    )
    device = task.model.device
    trainer = quiet_trainer(device, training, devices=1, max_epochs=1)
    module = _TuningModule(task, training, settings.seed, steps, after_epoch, progress)
    module.train()
    ahead = AHEAD if device.startswith("cuda") else 0
    trainer.fit(module, Loader(_ShuffledBatches(task, examples, settings), ahead))
    module.watch.weights(task.named_parameters(), training.steps)
    task.eval().to(device)


def seed_new_layers(settings: TuningSettings) -> None:
    """Seed torch for the initial values of new layers."""
    randomness.restart(settings.seed, randomness.INITIALISATION)


def load_or_tune(
    make: Callable[[], Tuned],
    examples: Sequence[Any],
    settings: TuningSettings,
    path: Path | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """A task on a copy of a model, its weights taken from a file, or tuned on examples and then written there.

    Args:
        make: the task with new layers, whose initial values are drawn by the settings' seed.
        path: a safetensors file. It must belong to this very model, data and settings: the caller names it by a hash
            of them. None: nothing is kept.
        progress: called with the steps done and all steps.

    Raises:
        ValueError: there are no examples to train on.
        InputError: the file is not whole, or holds another model's weights; or as :func:`tune`.
    """
    seed_new_layers(settings)
    task = make()
    if path is not None and path.is_file():
        try:
            task.load_state_dict(load_file(path))
        except (SafetensorError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(path, f"not the weights of this model ({reason})", "delete the file") from error
        task.eval().to(task.model.device)
        return task
    tune(task, examples, settings, progress=progress)
    if path is not None:
        tensors = {name: tensor.detach().contiguous().cpu() for name, tensor in task.state_dict().items()}
        with atomic_path(path) as temporary:
            save_file(tensors, temporary)
    return task


class _TuningModule(WatchedModule):
    def __init__(
        self,
        task: TaskModel[Any, Any],
        training: TuningOptimiser,
        seed: int,
        steps_per_epoch: int,
        after_epoch: Callable[[int], None] | None,
        progress: Progress | None,
    ) -> None:
        super().__init__()
        self.task = task
        self.training_config = training
        together = SEEN_TOGETHER if task.model.device.startswith("cuda") else 1
        self.watch = DivergenceWatch(
            f"{task.model.name}: tuning step", steps_per_epoch, REMEDY, together=together
        )
        self.seed = seed
        self.steps_per_epoch = steps_per_epoch
        self.after_epoch = after_epoch
        self.progress = progress

    def training_step(self, item: Any, batch_idx: int) -> Tensor:
        randomness.restart(self.seed, randomness.DROPOUT, self.global_step)
        loss = self.task.loss(item)
        self.watch.loss(loss, self.global_step)
        return loss

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        done, rest = divmod(self.global_step, self.steps_per_epoch)
        if self.progress is not None:
            self.progress(self.global_step, self.training_config.steps)
        if self.after_epoch is not None and rest == 0:
            self.task.eval()
            with torch.inference_mode():
                self.after_epoch(done)
            self.task.train()

    def configure_optimizers(self) -> Any:
        optimiser, scheduler = build_optimiser(self, self.training_config)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def transfer_batch_to_device(self, item: Any, device: torch.device, dataloader_idx: int) -> Any:
        return item.to(device)


class _ShuffledBatches(IterableDataset[Any]):
    """The batches of all epochs, the examples in a new order each epoch."""

    def __init__(self, task: TaskModel[Any, Any], examples: Sequence[Any], settings: TuningSettings) -> None:
        self.task = task
        self.examples = examples
        self.settings = settings

    def __iter__(self) -> Iterator[Any]:
        for epoch in range(self.settings.epochs):
            order = np.random.default_rng([self.settings.seed, epoch]).permutation(len(self.examples))
            for at in range(0, len(order), self.settings.batch_size):
                chosen = order[at : at + self.settings.batch_size]
                yield self.task.batch([self.examples[index] for index in chosen])


def frame(model: LanguageModel) -> tuple[int, int]:
    """The token before the texts and the one after each: [BOS] and [EOS], or [CLS] and [SEP] for models of spans.

    Raises:
        InputError: the model reads streams: it has no inputs of several texts.
    """
    reads = model.card.model.reads
    if reads == "streams":
        raise InputError(
            model.name, "reads streams: questions with a passage need a model of sentences or spans"
        )
    tokenizer = model.tokenizer
    return (
        (tokenizer.bos_id, tokenizer.eos_id) if reads == "sentences" else (tokenizer.cls_id, tokenizer.sep_id)
    )
