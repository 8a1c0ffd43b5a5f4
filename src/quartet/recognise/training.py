"""Train a translator, from the first step or from where an earlier run was stopped."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

from quartet.config.recognise import TranslatorConfig
from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.kernels.cross_entropy import summed_cross_entropy
from quartet.recognise.parallel_text import EncodedPairs, PairBatch, PairSource
from quartet.recognise.translation import build, compile_layers, logits, masks, weights
from quartet.training import randomness
from quartet.training.callbacks import MetricReporter, Progress
from quartet.training.divergence import REMEDY, SEEN_TOGETHER, CurveModule, DivergenceWatch
from quartet.training.loader import AHEAD, Loader
from quartet.training.optim import build_optimiser
from quartet.training.trainer import set_precision, train_steps

if TYPE_CHECKING:
    from transformers import MarianMTModel


@dataclass(frozen=True)
class TrainedTranslator:
    """The outcome of a training.

    Attributes:
        network: with the weights of the last step, in evaluation mode, on the CPU.
        best: the weights at the lowest point of the curve, by the names of `quartet.recognise.translation.weights`.
        best_step: the step that these are of.
        curve: (step, validation loss in nats per target token, without smoothing).
        targets: target tokens behind each point.
        tokens: target tokens read in training.
        seconds: of this run (from the resume point, if there was one); `steps` and `run_tokens` were done in it.
    """

    network: MarianMTModel
    best: dict[str, Tensor]
    best_step: int
    curve: list[tuple[int, float]]
    targets: int
    tokens: int
    seconds: float
    steps: int
    run_tokens: int


class TranslationModule(CurveModule):
    """Network, loss and optimiser.

    Attributes:
        curve: (step, validation loss in nats per target token) so far.
        best: the weights at the lowest point of the curve, on the CPU.
        tokens: target tokens read in training so far.
        validation_targets: target tokens behind each point of the curve.
    """

    def __init__(
        self,
        network: MarianMTModel,
        config: TrainingConfig,
        label_smoothing: float,
        seed: int,
        batches: int,
        targets_per_step: float,
        report: MetricReporter | None,
        device: str = "cpu",
    ) -> None:
        """Args:
        batches: of an epoch.
        targets_per_step: what a step's summed loss is divided by, the same for all steps.
        device: on a GPU losses and gradients are looked at together, every so many steps.
        """
        super().__init__()
        self.network = network
        self.config = config
        self.label_smoothing = label_smoothing
        self.seed = seed
        self.watch = DivergenceWatch(
            "training step",
            batches,
            REMEDY,
            usual=(targets_per_step, targets_per_step),
            together=SEEN_TOGETHER if device.startswith("cuda") else 1,
        )
        self.targets_per_step = targets_per_step
        self.report = report
        self.curve: list[tuple[int, float]] = []
        self.best: dict[str, Tensor] = {}
        self.tokens = 0
        self.validation_targets = 0
        self._validation_sum: float | Tensor = 0.0

    def loss(self, batch: PairBatch, label_smoothing: float) -> Tensor:
        """Cross-entropy in nats summed over the target tokens, [EOS] included.

        Smoothing mixes the target with the uniform distribution over all ids.
        """
        source_mask, target_mask = masks(batch.real_BS, batch.inputs_BT.shape[1])
        hidden_BTD = self.network.model(
            input_ids=batch.source_BS,
            attention_mask=source_mask,
            decoder_input_ids=batch.inputs_BT,
            decoder_attention_mask=target_mask,
            use_cache=False,
        ).last_hidden_state
        hidden_ND, targets_N = hidden_BTD.flatten(0, 1)[batch.places_N], batch.targets_N
        if torch.is_grad_enabled():
            weight_VD, bias_V = self.network.lm_head.weight, self.network.final_logits_bias[0]
            return summed_cross_entropy(
                hidden_ND, weight_VD, bias_V, targets_N, label_smoothing, compiled=self.config.compile
            )
        logits_NV = logits(self.network, hidden_ND)
        return F.cross_entropy(logits_NV, targets_N, reduction="sum", label_smoothing=label_smoothing)

    def training_step(self, batch: PairBatch, batch_idx: int) -> Tensor:
        """A part's share of the step's loss: summed over its targets, divided by those of a mean step."""
        step = self.global_step
        randomness.restart(self.seed, randomness.DROPOUT, step, batch.part)
        loss = self.loss(batch, self.label_smoothing)
        # Of a part of a step in targets alone: rows are as many as make the tokens of a usual step.
        self.watch.loss(loss, step, batch.part, self.config.accumulate, batch.targets, batch.targets)
        self.tokens += batch.targets
        return loss * (self.config.accumulate / self.targets_per_step)  # Lightning divides by the parts

    def on_validation_epoch_start(self) -> None:
        self._validation_sum = 0.0
        self.validation_targets = 0

    def validation_step(self, batch: PairBatch, batch_idx: int) -> None:
        self._validation_sum += self.loss(batch, 0.0).double()  # it stays on its device
        self.validation_targets += batch.targets

    def on_validation_epoch_end(self) -> None:
        value = float(self._validation_sum) / max(1, self.validation_targets)
        self.watch.validation(value, self.global_step)
        if not self.curve or value < min(loss for _, loss in self.curve):
            self.best = {
                name: tensor.detach().cpu().clone() for name, tensor in weights(self.network).items()
            }
        self.curve.append((self.global_step, value))
        self.log("validation_loss", value, prog_bar=True)
        if self.report is not None:
            self.report("validation_loss", value, self.global_step)

    def configure_optimizers(self) -> Any:
        optimiser, scheduler = build_optimiser(self.network, self.config)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def transfer_batch_to_device(
        self, batch: PairBatch, device: torch.device, dataloader_idx: int
    ) -> PairBatch:
        return batch.to(device)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["quartet"] = {
            "curve": [list(point) for point in self.curve],
            "best": self.best,
            "tokens": self.tokens,
            "watch": self.watch.state(),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        state = checkpoint["quartet"]
        self.curve = [(int(step), float(loss)) for step, loss in state["curve"]]
        self.best = {name: tensor.cpu() for name, tensor in state["best"].items()}
        self.tokens = int(state["tokens"])
        self.watch.restore(state["watch"])


class _Batches(IterableDataset[PairBatch]):
    """The batches of a source at the given steps, each in its parts."""

    def __init__(self, source: PairSource, steps: Iterable[int], parts: int = 1, trim: bool = True) -> None:
        """Args:
        trim: see :meth:`PairBatch.split`.
        """
        self.source = source
        self.trim = trim
        self.steps = steps
        self.parts = parts

    def __iter__(self) -> Iterator[PairBatch]:
        for step in self.steps:
            batch = self.source.batch(step)
            yield from [batch] if self.parts == 1 else batch.split(self.parts, self.trim)


def fit_translator(
    model: TranslatorConfig,
    training: TrainingConfig,
    vocabulary: int,
    train: EncodedPairs,
    dev: EncodedPairs,
    *,
    label_smoothing: float,
    seed: int,
    resume: Path,
    device: str = "cpu",
    progress: Progress | None = None,
    report: MetricReporter | None = None,
) -> TrainedTranslator:
    """Train a translator; ``training.batch_size`` counts tokens of the longer side, padding included.

    Args:
        vocabulary: number of ids.
        seed: of initialisation, data order and dropout.
        resume: the resume point; read where it exists, written every ``checkpoint_every`` steps. It must belong to this
            very configuration, data and seed: the caller names it by a hash of them.
        device: ``cpu`` or ``cuda``.
        progress: called with the steps done and all steps.
        report: gets each validation loss as it comes.

    Raises:
        InputError: no pair is short enough, the loss or the gradient is no longer a number, or fp16 is asked for on a
            CPU.
    """
    for split, pairs in (("train", train), ("dev", dev)):
        if not len(pairs):
            raise InputError(
                f"the {split} text", f"no pair is within max_length {model.max_length}", "raise max_length"
            )
    set_precision(training.precision, device)  # what does not fit the device is said before all work
    randomness.restart(seed, randomness.INITIALISATION)
    network = build(model, vocabulary)
    if training.compile:
        compile_layers(network)
    on_gpu = device.startswith("cuda")
    source = PairSource(train, batch_tokens=training.batch_size, seed=seed, few_shapes=on_gpu)
    module = TranslationModule(
        network.train(),
        training,
        label_smoothing,
        seed,
        source.steps_per_epoch,
        source.targets_per_step,
        report,
        device,
    )
    done, tokens_before = 0, 0
    if resume.is_file():
        point = torch.load(resume, weights_only=True, map_location="cpu")
        done, tokens_before = int(point["global_step"]), int(point["quartet"]["tokens"])
    held_out = PairSource(dev, batch_tokens=training.batch_size, seed=None)
    every = held_out.steps_per_epoch
    count = min(every, training.validation_batches or every)
    # the batches are sorted by length, so some of all lengths are taken
    spread = [number * every // count for number in range(count)]
    validation = DataLoader(_Batches(held_out, spread), batch_size=None)
    batches = Loader(
        _Batches(source, itertools.count(done), training.accumulate, trim=not on_gpu),
        ahead=AHEAD if on_gpu else 0,
    )
    seconds = train_steps(
        module,
        batches,
        validation,
        training,
        resume,
        device=device,
        rounds=training.accumulate,
        progress=progress,
    )
    return TrainedTranslator(
        network.eval().cpu(),
        module.best,
        min(module.curve, key=lambda point: point[1])[0],
        module.curve,
        module.validation_targets,
        module.tokens,
        seconds,
        training.steps - done,
        module.tokens - tokens_before,
    )
