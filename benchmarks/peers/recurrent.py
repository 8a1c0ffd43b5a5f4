"""Training steps of Segatron-XL, whose positions are three, against those of plain Transformer-XL, which has one."""

from __future__ import annotations

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, at_most, equal
from benchmarks.peers.models import TransformerXLShape, filled_tokenizer
from benchmarks.peers.paired_times import in_turns
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.training import RepeatableTraining, encode_sentences
from quartet.config.model import ModelConfig, Position, RecurrenceConfig
from quartet.runtime.clock import Timer

#: Seconds of a step over those of plain Transformer-XL.
DEMAND = at_most(1.25)

#: Optimiser steps that are timed at once.
STEPS = 8


POSITIONS: dict[str, tuple[Position, ...]] = {
    "Transformer-XL": ("sequence",),
    "Segatron-XL": ("token", "sentence", "paragraph"),
}


def study(setup: BenchmarkSetup) -> BenchmarkResult:
    """Train a few steps of both; they read the same tokens, and their losses are of different models."""
    figures, checks = [], []
    seconds: dict[str, float] = {}
    sentences = setup.spread(setup.trained)
    for name, stream in setup.streams.items():
        tokenizer = filled_tokenizer(setup.sentences, stream.vocabulary)
        corpus = encode_sentences(setup.folder / f"streams-{name}", sentences, tokenizer)
        epochs = {
            label: RepeatableTraining(
                _config(stream, positions),
                tokenizer,
                corpus,
                stream.rows,
                "fp32",
                setup.device,
                setup.folder,
                STEPS,
            )
            for label, positions in POSITIONS.items()
        }
        plain, segatron = (epoch.tokens() for epoch in epochs.values())
        checks.append(equal(f"{name}: tokens of {STEPS} steps", [plain], [segatron], 0))
        ways: dict[str, Timer] = {label: epoch.seconds for label, epoch in epochs.items()}
        found = in_turns(ways, setup.rounds)
        figures.append(
            BenchmarkFigure.of(
                f"training step, {name} (d = {stream.dim}): Segatron-XL / Transformer-XL",
                found.ratios("Segatron-XL", "Transformer-XL"),
                DEMAND,
            )
        )
        seconds |= {f"{label}, {name}": value / STEPS for label, value in found.medians.items()}
    sizes = {name: dict(stream.__dict__) for name, stream in setup.streams.items()}
    return BenchmarkResult(figures, checks, seconds, sizes)


def _config(stream: TransformerXLShape, positions: tuple[Position, ...]) -> ModelConfig:
    return ModelConfig(
        objective="clm",
        architecture="transformer-xl",
        reads="streams",
        positions=positions,
        layers=stream.layers,
        dim=stream.dim,
        heads=stream.heads,
        inner=stream.inner,
        dropout=0.1,
        head="tied",
        max_length=stream.window,
        recurrence=RecurrenceConfig(memory=stream.memory),
    )
