"""The one LightningModule: it asks the objective for a loss and never asks which objective it is."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor

from quartet.data.batch import Batch
from quartet.errors import InputError
from quartet.models.network import Memory, Network
from quartet.objectives.base import Objective
from quartet.training import randomness
from quartet.training.config import TrainingConfig
from quartet.training.optim import build_optimiser


class PretrainingModule(pl.LightningModule):
    """Network, objective and optimiser; carries the memory of recurrent networks from batch to batch.

    Attributes:
        curve: (step, validation loss in nats a target) so far.
        best: the weights at the lowest point of the curve, on the CPU.
        tokens: real (unpadded) tokens read in training so far.
        targets, pairs, places: predicted tokens, keys attended to by the real tokens, and tokens with padding, in this
            process.
        validation_targets: targets behind each point of the curve.
    """

    def __init__(self, network: Network, objective: Objective, config: TrainingConfig, seed: int) -> None:
        super().__init__()
        self.network = network
        self.objective = objective
        self.config = config
        self.seed = seed
        self.curve: list[tuple[int, float]] = []
        self.best: dict[str, Tensor] = {}
        self.tokens = 0
        self.targets = self.pairs = self.places = 0
        self.validation_targets = 0
        self._memory: dict[int, Memory | None] = {}  # of each part of a batch
        self._validation_memory: Memory | None = None
        self._validation_sum = 0.0

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """A part's share of the mean loss over the whole batch's targets."""
        step = self.global_step
        torch.manual_seed(randomness.seed_of(self.seed, randomness.DROPOUT, step, batch.part))
        corruption = randomness.rows(self.seed, randomness.CORRUPTION, step)
        memory = None if batch.fresh else self._memory.get(batch.part)
        loss, targets, self._memory[batch.part] = self.objective.loss(self.network, batch, corruption, memory)
        loss = loss / max(1, targets if batch.step_targets is None else batch.step_targets)
        if not torch.isfinite(loss):
            raise InputError(
                f"training step {step}",
                f"the loss is {loss.item()}",
                "lower training.learning_rate, lengthen training.warmup, or set training.clip",
            )
        self._count(batch, targets, 0 if memory is None else memory.positions_BMP.shape[1])
        return loss * self.config.accumulate  # Lightning divides by it

    def _count(self, batch: Batch, targets: int, remembered: int) -> None:
        lengths_B = batch.real_BT.sum(dim=1)
        self.tokens += int(lengths_B.sum())
        self.targets += targets
        self.pairs += int((lengths_B * (lengths_B + remembered)).sum())
        self.places += batch.real_BT.numel()

    def on_validation_epoch_start(self) -> None:
        self._validation_memory = None
        self._validation_sum = 0.0
        self.validation_targets = 0

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """The same corruption at every validation, so that the points of a curve differ by the model alone."""
        corruption = randomness.rows(self.seed, randomness.VALIDATION, batch_idx)
        memory = None if batch.fresh else self._validation_memory
        loss, targets, self._validation_memory = self.objective.loss(self.network, batch, corruption, memory)
        self._validation_sum += loss.item()
        self.validation_targets += targets

    def on_validation_epoch_end(self) -> None:
        value = self._validation_sum / max(1, self.validation_targets)
        if not self.best or value < min(loss for _, loss in self.curve):
            self.best = {
                name: tensor.detach().cpu().clone() for name, tensor in self.network.state_dict().items()
            }
        if not self.curve or self.curve[-1][0] != self.global_step:
            self.curve.append((self.global_step, value))
        self.log("validation_loss", value, prog_bar=True)

    @property
    def best_step(self) -> int:
        """The step that the best weights are of."""
        return min(self.curve, key=lambda point: point[1])[0]

    def configure_optimizers(self) -> Any:
        optimiser, scheduler = build_optimiser(self.network, self.config)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip here but for fp16, whose scaled gradients only Lightning can: it refuses a fused optimiser's."""
        if self.config.precision == "fp16":
            self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)
        elif gradient_clip_val:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), gradient_clip_val)

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        return batch.to(device)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        memory = {
            part: [kept.hidden_LBMD.cpu(), kept.positions_BMP.cpu()]
            for part, kept in self._memory.items()
            if kept is not None
        }
        checkpoint["quartet"] = {
            "curve": [list(point) for point in self.curve],
            "best": self.best,
            "tokens": self.tokens,
            "memory": memory,
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        state = checkpoint["quartet"]
        self.curve = [(int(step), float(loss)) for step, loss in state["curve"]]
        self.best = {name: tensor.cpu() for name, tensor in state["best"].items()}
        self.tokens = int(state["tokens"])
        self._memory = {int(part): Memory(*tensors) for part, tensors in state["memory"].items()}

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        memory = self._memory.get(batch.part)
        if memory is not None:
            device = batch.ids_BT.device
            self._memory[batch.part] = Memory(memory.hidden_LBMD.to(device), memory.positions_BMP.to(device))
