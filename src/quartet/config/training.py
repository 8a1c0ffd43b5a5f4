"""How a model is trained: steps, batches, optimiser and schedule."""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from quartet.config.choices import WeightsChoice
from quartet.config.types import STRICT, Count, Fraction, NotNegative, Positive, ProperShare, Share, Size

#: A step has as many tokens as so many sentences have in the mean, or exactly so many sentences.
BatchBy = Literal["tokens", "sentences"]
#: See `TrainerSettings`.
TrainingStrategy = Literal["auto", "ddp", "fsdp"]
#: Precisions that a CPU has no use for.
ON_GPU_ONLY = ("tf32", "fp16")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TrainingConfig:
    """The ``training:`` block of a model in params.yaml.

    Attributes:
        steps: optimiser steps.
        batch_size: inputs an optimiser step (for streams: parallel streams).
        batch_by: for models that read sentences: a step has as many ``tokens`` as `batch_size` sentences have in the
            mean, in sentences of like length; or exactly `batch_size` ``sentences``, as in the papers. Either way each
            target weighs the same (in MLM not every token is a target equally often).
        accumulate: parts that a batch is split into, one after the other, to save memory; the gradient is that of the
            whole batch. Several devices share the parts.
        precision: ``fp32``; on a GPU also ``tf32``, whose products are of numbers of 10 bits; or mixed precision with
            ``bf16``, on a GPU also ``fp16``. Weights and their moments are fp32 in all of them.
        compile: let ``torch.compile`` translate the network, which takes minutes and a C++ compiler. For GPUs: on a CPU
            it gains nothing (docs/speed.md).
        learning_rate: the peak rate.
        warmup: share of the schedule in which the rate rises linearly from 0.
        schedule: after the warm-up, ``linear`` or ``cosine`` decay to 0, ``inverse-sqrt`` decay, or ``constant``.
        schedule_steps: steps after which the decay reaches 0 (0: `steps`); with more than `steps` the training ends
            before the decay does.
        weight_decay: AdamW's, on matrices only (not on biases and normalisation).
        betas: Adam's two decay rates.
        epsilon: what Adam adds to the root of the second moment.
        clip: largest norm of the gradient (0: no clipping).
        validate_every: steps between two points of the validation curve.
        validation_batches: about how many batches of the validation split are behind each point, from the beginning of
            every document alike (0: all).
        checkpoint_every: steps between two resume points.
        mask_probability: share of tokens that MLM selects (of which 80 % [MASK], 10 % random, 10 % kept).
        max_selected: most tokens that MLM selects in one input (0: no limit).
        loss_on_specials: whether [BOS]/[EOS] or [CLS]/[SEP] are targets of MLM and LAE too (the released T-TA); CLM
            always predicts [EOS], which belongs to its scores, and never [BOS].
        weights: which weights the evaluations use: the ``last``, or the ``best`` on the validation split; both are
            kept.
    """

    steps: Count
    batch_size: Count
    batch_by: BatchBy = "tokens"
    accumulate: Count = 1
    precision: Literal["fp32", "tf32", "bf16", "fp16"] = "fp32"
    compile: bool = False
    learning_rate: Positive
    warmup: Share = 0.1
    schedule: Literal["linear", "cosine", "inverse-sqrt", "constant"] = "linear"
    schedule_steps: Size = 0
    weight_decay: NotNegative = 0.01
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Positive = 1e-8
    clip: NotNegative = 1.0
    validate_every: Count = 100
    validation_batches: Size = 0
    checkpoint_every: Count = 500
    mask_probability: ProperShare = 0.15
    max_selected: Size = 0
    loss_on_specials: bool = False
    weights: WeightsChoice = "last"

    def __post_init__(self) -> None:
        if self.accumulate > self.batch_size:
            raise ValueError(f"accumulate {self.accumulate} parts are more than batch_size {self.batch_size}")
        if 0 < self.schedule_steps < self.steps:
            raise ValueError(f"schedule_steps {self.schedule_steps} end before steps {self.steps}")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TrainerSettings:
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

    strategy: TrainingStrategy = "auto"
    devices: Count = 1
    nodes: Count = 1
    launch: str = ""

    def __post_init__(self) -> None:
        if self.strategy != "auto" and self.devices * self.nodes == 1:
            raise ValueError(
                f"strategy {self.strategy} needs several devices or nodes: raise one, or write auto"
            )
