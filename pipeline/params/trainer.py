"""The section ``trainer:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from quartet.config.types import Count


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class Trainer:
    """The machine that pre-trainings run on, and nothing about their outcome: no stage tracks it.

    Another machine goes on with a training that was stopped, and does not repeat one that is finished. The precision
    stands with each model's ``training``.

    Attributes:
        strategy: ``ddp`` keeps the whole model on each device, ``fsdp`` a share of it; ``auto``: ddp, where there are
            several devices.
        devices: of each node: GPUs, or processes on a CPU.
        nodes: machines, which share the folder that all this lies in.
        launch: the words before the stage's command that start it once for each device, such as ``srun``; none:
            Lightning starts the processes of this one machine.
    """

    strategy: Literal["auto", "ddp", "fsdp"] = "auto"
    devices: Count = 1
    nodes: Count = 1
    launch: str = ""

    def __post_init__(self) -> None:
        if self.strategy != "auto" and self.devices * self.nodes == 1:
            raise ValueError(
                f"strategy {self.strategy} needs several devices or nodes: raise one, or write auto"
            )
