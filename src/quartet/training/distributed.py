"""One training in several processes, a device each: which of them this one is, and what they tell each other.

Every function also works in a training of one process, where it changes nothing. The same call has to be made by all
processes, or all would wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from pytorch_lightning.strategies import DDPStrategy, ModelParallelStrategy, Strategy
from torch import Tensor, distributed, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from quartet.config.training import TrainingStrategy

Value = TypeVar("Value")


@dataclass(frozen=True)
class Machine:
    """What a training is spread over. It decides how long the training takes, and its outcome by rounding alone.

    Attributes:
        strategy: ``ddp`` keeps the whole model on each device; ``fsdp`` a share of weights, gradients and optimiser,
            and gathers a layer's weights when it computes them. ``auto``: ddp where there are several devices.
        devices: of each node.
        nodes: machines.
    """

    strategy: TrainingStrategy = "auto"
    devices: int = 1
    nodes: int = 1

    @property
    def processes(self) -> int:
        return self.devices * self.nodes

    @property
    def in_words(self) -> str:
        """Empty for one process."""
        if self.processes == 1:
            return ""
        strategy = "fsdp" if self.strategy == "fsdp" else "ddp"
        return f" on {self.processes} devices ({strategy})"

    def rounds(self, parts: int) -> int:
        """How many parts of a batch a process computes one after the other, if one process computes so many."""
        return -(-parts // self.processes)

    def lightning(self) -> Strategy | Literal["auto"]:
        """Lightning's strategy; its resume points are one whole file, whatever wrote them."""
        if self.processes == 1:
            return "auto"
        if self.strategy == "fsdp":
            return ModelParallelStrategy(self.processes, 1, save_distributed_checkpoint=False)
        return DDPStrategy(gradient_as_bucket_view=True)


def is_distributed() -> bool:
    """Whether other processes train with this one."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def rank() -> int:
    """The number of this process, from 0."""
    return distributed.get_rank() if is_distributed() else 0


def process_count() -> int:
    """How many processes train."""
    return distributed.get_world_size() if is_distributed() else 1


def sum_over_processes(values: Sequence[float]) -> list[float]:
    """The sum over all processes of each number, in double precision."""
    if not is_distributed():
        return list(values)
    on_gpu = distributed.get_backend() == "nccl"
    tensor = torch.tensor(values, dtype=torch.float64, device="cuda" if on_gpu else "cpu")
    distributed.all_reduce(tensor)
    return [float(value) for value in tensor]


def gather_values(value: Value) -> list[Value]:
    """Every process's value, in their order; empty but in the first process."""
    if not is_distributed():
        return [value]
    found: list[Any] = [None] * process_count()
    distributed.gather_object(value, found if rank() == 0 else None)
    return found if rank() == 0 else []


def shard(network: nn.Module, mesh: Any) -> None:
    """Divide a network's parameters among the devices of a mesh: each layer is gathered by itself, then the rest."""
    for layer in network.get_submodule("layers").children():
        fully_shard(layer, mesh=mesh)
    fully_shard(network, mesh=mesh)


def is_sharded(network: nn.Module) -> bool:
    """Whether :func:`shard` has divided it."""
    return any(isinstance(parameter, DTensor) for parameter in network.parameters())


def weights(network: nn.Module) -> dict[str, Tensor]:
    """A copy of the whole weights, on the CPU; empty but in the first process."""
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    sharded = is_sharded(network)
    state: dict[str, Any] = (
        get_model_state_dict(network, options=options) if sharded else network.state_dict()
    )
    return {name: tensor.detach().cpu().clone() for name, tensor in state.items()} if rank() == 0 else {}


def whole_tensor(tensor: Tensor) -> Tensor:
    """A tensor of which each device may have a share."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
