"""The one LightningModule: it asks the objective for a loss and never asks which objective it is."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from quartet.config.training import TrainingConfig
from quartet.data.batch import part_edges
from quartet.models.network import Memory, Network
from quartet.objectives.base import LabelledBatch, Objective
from quartet.training import distributed, randomness
from quartet.training.distributed import Machine
from quartet.training.divergence import METRIC, REMEDY, SEEN_TOGETHER, CurveModule, DivergenceWatch
from quartet.training.optim import build_optimiser


class PretrainingModule(CurveModule):
    """Network, objective and optimiser; carries the memory of recurrent networks from batch to batch.

    Attributes:
        rounds: parts of a batch that this process computes one after the other.
        curve: (step, validation loss in nats per target) so far.
        best: the weights at the lowest point of the curve, on the CPU of the first process.
        earlier_tokens: real (unpadded) tokens read in training before this run, by all processes.
        tokens, targets, pairs, places: real tokens, predicted tokens, keys attended to by the real tokens, and tokens
            with padding, in this run of this process.
        validation_targets: targets behind each point of the curve.
    """

    def __init__(
        self,
        network: Network,
        objective: Objective,
        config: TrainingConfig,
        seed: int,
        batches: int,
        targets_per_step: float,
        rows_per_step: float,
        machine: Machine,
        device: str = "cpu",
    ) -> None:
        """Args:
        batches: of an epoch.
        targets_per_step: what a step's summed loss is divided by, the same for all steps.
        rows_per_step: texts of a mean step.
        device: on a GPU losses and gradients are looked at together, every so many steps.
        """
        super().__init__()
        self.network = network
        self.objective = objective
        self.config = config
        self.seed = seed
        self.rounds = machine.rounds(config.accumulate)
        self.targets_per_step = targets_per_step
        self._pieces = machine.processes * self.rounds
        self.watch = DivergenceWatch(
            "training step",
            batches,
            REMEDY,
            f"{METRIC}/seed-{seed}",
            (targets_per_step, rows_per_step),
            SEEN_TOGETHER if device.startswith("cuda") else 1,
        )
        self.curve: list[tuple[int, float]] = []
        self.best: dict[str, Tensor] = {}
        self.earlier_tokens = 0
        self.tokens = self.targets = self.pairs = self.places = 0
        self.validation_targets = 0
        self._memory: dict[int, Memory | None] = {}  # of each part of a batch
        self._validation_memory: Memory | None = None
        self._validation_sum: float | Tensor = 0.0

    def training_step(self, labelled: LabelledBatch, batch_idx: int) -> Tensor:
        """A part's share of the step's loss: summed over its targets, divided by those of a mean step.

        So each target weighs the same, whichever sentences it came together with. Nothing here asks a GPU for a value.
        """
        batch, step, targets = labelled.batch, self.global_step, len(labelled.targets_N)
        randomness.restart(self.seed, randomness.DROPOUT, step, batch.part)
        memory = None if batch.fresh else self._memory.get(batch.part)
        loss, self._memory[batch.part] = self.objective.loss(self.network, labelled, memory)
        self.watch.loss(
            loss, step, batch.part % self.rounds, self.rounds, targets, len(batch.ids_BT), batch.kind
        )
        self._count(labelled, 0 if memory is None else memory.positions_BMP.shape[1])
        # Lightning divides by the rounds, and the mean over processes by their number
        return loss * (self._pieces / self.targets_per_step)

    def _count(self, labelled: LabelledBatch, remembered: int) -> None:
        lengths_B = labelled.lengths
        self.tokens += int(lengths_B.sum())
        self.targets += len(labelled.targets_N)
        self.pairs += int((lengths_B * (lengths_B + remembered)).sum())
        self.places += labelled.inputs_BT.numel()

    def on_validation_epoch_start(self) -> None:
        self._validation_memory = None
        self._validation_sum = 0.0
        self.validation_targets = 0

    def validation_step(self, labelled: LabelledBatch, batch_idx: int) -> None:
        memory = None if labelled.batch.fresh else self._validation_memory
        loss, self._validation_memory = self.objective.loss(self.network, labelled, memory)
        self._validation_sum += loss.double()  # it stays on its device
        self.validation_targets += len(labelled.targets_N)

    def on_validation_epoch_end(self) -> None:
        loss, targets = distributed.sum_over_processes([float(self._validation_sum), self.validation_targets])
        self.validation_targets = int(targets)
        value = loss / max(1, self.validation_targets)
        self.watch.validation(value, self.global_step)
        if not self.curve or value < min(loss for _, loss in self.curve):
            self.best = distributed.weights(self.network)
        if not self.curve or self.curve[-1][0] != self.global_step:
            self.curve.append((self.global_step, value))
        self.log("validation_loss", value, prog_bar=True)

    @property
    def best_step(self) -> int:
        """The step that the best weights are of."""
        return min(self.curve, key=lambda point: point[1])[0]

    def configure_model(self) -> None:
        """Lightning calls it before each fit and validation; under ``fsdp`` there is a mesh of devices by then."""
        if self.device_mesh is not None and not distributed.is_sharded(self.network):
            distributed.shard(self.network, self.device_mesh["data_parallel"])

    def configure_optimizers(self) -> Any:
        optimiser, scheduler = build_optimiser(self.network, self.config)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def transfer_batch_to_device(
        self, batch: LabelledBatch, device: torch.device, dataloader_idx: int
    ) -> LabelledBatch:
        return batch.to(device)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """The memory is kept whole, its rows in their order: another number of processes may go on with it."""
        (tokens,) = distributed.sum_over_processes([self.tokens])
        memories = [memory for _, memory in sorted(self._memory.items()) if memory is not None]
        own = [[memory.hidden_LBMD.cpu(), memory.positions_BMP.cpu()] for memory in memories]
        parts = [part for parts in distributed.gather_values(own) for part in parts]
        checkpoint["quartet"] = {
            "curve": [list(point) for point in self.curve],
            "best": self.best,
            "tokens": self.earlier_tokens + int(tokens),
            "memory": [
                torch.cat(tensors, dim)
                for tensors, dim in zip(zip(*parts, strict=True), (1, 0), strict=False)
            ],
            "rounds": self.rounds,
            "watch": self.watch.state(),
        }
        if not distributed.is_sharded(self.network):
            places = {parameter: place for place, parameter in enumerate(self.parameters())}
            (optimiser,) = self.trainer.optimizers
            groups = [[places[each] for each in group["params"]] for group in optimiser.param_groups]
            (state,) = checkpoint["optimizer_states"]
            checkpoint["optimizer_states"] = [renumbered(state, groups)]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        state = checkpoint["quartet"]
        self.curve = [(int(step), float(loss)) for step, loss in state["curve"]]
        self.best = {name: tensor.cpu() for name, tensor in state["best"].items()}
        self.earlier_tokens = int(state["tokens"])
        if state["memory"]:
            hidden_LBMD, positions_BMP = state["memory"]
            edges = part_edges(len(positions_BMP), self._pieces)
            own = range(distributed.rank() * self.rounds, (distributed.rank() + 1) * self.rounds)
            self._memory = {
                part: Memory(hidden_LBMD[:, slice(*edges[part])], positions_BMP[slice(*edges[part])])
                for part in own
            }
        self.watch.restore(state["watch"])
        _recount(checkpoint["loops"]["fit_loop"], checkpoint["global_step"] * (self.rounds - state["rounds"]))

    def on_train_batch_start(self, batch: LabelledBatch, batch_idx: int) -> None:
        memory = self._memory.get(batch.part)
        if memory is not None:
            device = batch.inputs_BT.device
            self._memory[batch.part] = Memory(memory.hidden_LBMD.to(device), memory.positions_BMP.to(device))


def renumbered(state: dict[str, Any], groups: list[list[int]]) -> dict[str, Any]:
    """An optimiser's state with the parameters' places in the module as their numbers.

    PyTorch numbers them group by group, and by the groups it reads them too; a sharded training reads by these places.
    """
    new = {
        old: place
        for group, places in zip(state["param_groups"], groups, strict=True)
        for old, place in zip(group["params"], places, strict=True)
    }
    return {
        "state": {new[old]: moments for old, moments in state["state"].items()},
        "param_groups": [
            {**group, "params": places} for group, places in zip(state["param_groups"], groups, strict=True)
        ],
    }


def _recount(fit_loop: dict[str, Any], more: int) -> None:
    """Let Lightning believe that it has seen so many more parts: it counts in them when to step and to validate."""
    progress = fit_loop["epoch_loop.batch_progress"]
    for counter in (progress["total"], progress["current"]):
        for name in counter:
            counter[name] += more
