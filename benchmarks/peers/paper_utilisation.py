"""How much of what a GPU can multiply the trainings of both papers use: their operations over the measured peak.

Each is a training by :func:`quartet.training.fit.fit` as whoever trains calls it, of which the steps after the first
few are timed: those wait for kernels to be chosen or compiled, once for all the days that a training takes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, DemandedValue, at_least
from benchmarks.peers.models import SHAPES, model_config
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.training import RepeatableTraining, encode_sentences
from quartet.config.model import ModelConfig, Position, RecurrenceConfig
from quartet.runtime.hf_bert import BertShape
from quartet.runtime.peak import matrix_product_peak
from quartet.training.flops import training_flops

if TYPE_CHECKING:
    from quartet.training.fit import TrainedNetwork

#: Steps before the first that is timed, and steps that are timed.
WARM, TIMED = 20, 30

PRECISION = "bf16"


@dataclass(frozen=True)
class PaperTraining:
    """One training.

    Attributes:
        batch_size: sentences, spans or streams of a step.
        demand: per cent of the peak.
    """

    model: ModelConfig
    batch_size: int
    demand: DemandedValue


def sentences(tiny: bool) -> dict[str, PaperTraining]:
    """The three systems of the T-TA paper: 3 layers of 512, of 1,024 sentences a step."""
    shape, size = (SHAPES["tiny"], 8) if tiny else (SHAPES["tta-paper"], 1024)
    models = {"T-TA": "tta", "uniLM": "unilm", "biLM": "bilm"}
    return {
        name: PaperTraining(
            replace(model_config(key, shape, 128), dropout=0.1, attention_dropout=0.1),
            size,
            at_least(15),
        )
        for name, key in models.items()
    }


def spans(tiny: bool) -> dict[str, PaperTraining]:
    """SegaBERT-base and -large, 512 tokens, of 64 and 32 spans a step."""
    shapes = {"base": (SHAPES["bert-base"], 64), "large": (BertShape(24, 1024, 16, 4096, 30522), 32)}
    if tiny:
        shapes = {"tiny": (SHAPES["tiny"], 4)}
    return {
        f"SegaBERT-{name}": PaperTraining(_spans(shape, 64 if tiny else 512), rows, at_least(40))
        for name, (shape, rows) in shapes.items()
    }


def streams(tiny: bool) -> dict[str, PaperTraining]:
    """Transformer-XL and Segatron-XL base: 16 layers of 410, window and memory of 150, of 60 streams."""
    shape, window, rows = (
        (SHAPES["tiny"], 8, 2)
        if tiny
        else (BertShape(16, 410, 10, 2100, SHAPES["bert-base"].vocabulary), 150, 60)
    )
    positions: dict[str, tuple[Position, ...]] = {
        "Transformer-XL": ("sequence",),
        "Segatron-XL": ("token", "sentence", "paragraph"),
    }
    return {
        f"{name} base": PaperTraining(_streams(shape, window, kinds), rows, at_least(30))
        for name, kinds in positions.items()
    }


def _spans(shape: BertShape, length: int) -> ModelConfig:
    return ModelConfig(
        objective="mlm",
        architecture="encoder",
        reads="spans",
        positions=("token", "sentence", "paragraph"),
        layers=shape.layers,
        dim=shape.dim,
        heads=shape.heads,
        inner=shape.inner,
        dropout=0.1,
        attention_dropout=0.1,
        head="transform",
        max_length=length,
    )


def _streams(shape: BertShape, window: int, positions: tuple[Position, ...]) -> ModelConfig:
    return ModelConfig(
        objective="clm",
        architecture="transformer-xl",
        reads="streams",
        positions=positions,
        layers=shape.layers,
        dim=shape.dim,
        heads=shape.heads,
        inner=shape.inner,
        dropout=0.1,
        head="tied",
        max_length=window,
        recurrence=RecurrenceConfig(memory=window),
    )


GROUPS = {"sentences": sentences, "spans": spans, "streams": streams}


def study(setup: BenchmarkSetup, group: str) -> BenchmarkResult:
    """Train each model of a group, as it is and with ``training.compile``, until the time is over."""
    texts = setup.spread(setup.trained)
    corpus = encode_sentences(setup.folder / group, texts, setup.tokenizer)
    figures: list[BenchmarkFigure] = []
    seconds: dict[str, float] = {}
    tokens: dict[str, float] = {}
    sizes = {"sentences": len(texts), "tokens_per_second": tokens, "warm": WARM, "timed": TIMED}
    found = BenchmarkResult(figures, [], seconds, sizes)
    share = TIMED / (WARM + TIMED)
    for name, training in GROUPS[group](setup.shape == SHAPES["tiny"]).items():
        for compiled in (False, True):
            if setup.is_over:
                continue
            label = f"{name}, {PRECISION}{', compiled' if compiled else ''}"
            peak = matrix_product_peak(setup.device, PRECISION)
            clock = DeviceStepClock(setup.device)
            trained = RepeatableTraining(
                training.model,
                setup.tokenizer,
                corpus,
                training.batch_size,
                PRECISION,
                setup.device,
                setup.folder,
                WARM + TIMED,
                compile=compiled,
            ).train(clock)
            used = 100 * share * operations(training.model, trained) / clock.seconds / peak
            figures.append(
                BenchmarkFigure.of(
                    f"training of {label}: operations / the peak of matrix products",
                    [used],
                    training.demand if compiled else None,
                    "%",
                )
            )
            seconds[label] = clock.seconds / TIMED
            tokens[label] = trained.run_tokens * share / clock.seconds
            setup.tell(found)
    return found


def operations(model: ModelConfig, trained: TrainedNetwork) -> float:
    """Floating-point operations of a training: the model's own, on real tokens."""
    return training_flops(
        model,
        trained.network.vocabulary,
        trained.run_tokens,
        trained.work.targets,
        trained.work.pairs / trained.run_tokens,
    )


class DeviceStepClock:
    """Seconds of the timed steps: told of each step, it waits for the device at the first and the last of them."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.seconds = 0.0
        self._begun = 0.0

    def __call__(self, done: int, steps: int) -> None:
        if done not in (steps - TIMED, steps):
            return
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        now = time.perf_counter()
        self._begun, self.seconds = now, now - self._begun


STUDIES = {group: partial(study, group=group) for group in GROUPS}
