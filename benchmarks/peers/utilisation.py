"""How much of what the device can multiply our training uses: its operations over the measured peak."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, at_least
from benchmarks.peers.models import model_config
from benchmarks.peers.paired_times import in_turns
from benchmarks.peers.pretraining import DROPOUT, MAX_LENGTH
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.training import RepeatableTraining, encode_sentences
from quartet.runtime.clock import Timer
from quartet.runtime.peak import matrix_product_peak
from quartet.training.flops import training_flops

#: Per cent, on a CPU; on a GPU the figure is reported.
DEMAND = at_least(50)
#: The ways whose operations nothing stands between.
PEAK = "the peak after"


def study(setup: BenchmarkSetup) -> BenchmarkResult:
    """Train one epoch of sentences as T-TA, biLM and uniLM, and measure the peak of matrix products after each of them.

    A peak is a moment's, a training takes long: of a round's peaks the highest counts for all three. The operations
    are those that the objectives need for real tokens: padding and recomputation are no work.
    """
    sentences = setup.spread(setup.trained)
    corpus = encode_sentences(setup.folder / "peak", sentences, setup.tokenizer)
    figures: list[BenchmarkFigure] = []
    rates: dict[str, float] = {}
    for precision in setup.precisions:
        epochs = {
            name: RepeatableTraining(
                replace(model_config(key, setup.shape, MAX_LENGTH), dropout=DROPOUT),
                setup.tokenizer,
                corpus,
                setup.parts * setup.batch_size,
                precision,
                setup.device,
                setup.folder,
                accumulate=setup.parts,
            )
            for name, key in (("T-TA", "tta"), ("biLM", "bilm"), ("uniLM", "unilm"))
        }
        ways: dict[str, Timer] = {}
        for name, epoch in epochs.items():
            ways[name] = partial(_an_operation, epoch)
            ways[f"{PEAK} {name}"] = partial(_at_the_peak, setup.device, precision)
        seconds = in_turns(ways, setup.rounds).seconds
        peaks = [
            min(found) for found in zip(*(seconds.pop(f"{PEAK} {name}") for name in epochs), strict=True)
        ]
        figures += [
            BenchmarkFigure.of(
                f"training of {name}, {precision}: operations / the peak of matrix products",
                [100 * peak / own for peak, own in zip(peaks, seconds[name], strict=True)],
                None if setup.on_gpu else DEMAND,
                "%",
            )
            for name in epochs
        ]
        rates |= {
            f"{name}, {precision}": 1e-9 / statistics.median(found)
            for name, found in {**seconds, "the peak": peaks}.items()
        }
    sizes = setup.described() | {
        "sentences": len(sentences),
        "batch_size": setup.parts * setup.batch_size,
        "parts": setup.parts,
        "gflop_a_second": rates,
    }
    return BenchmarkResult(figures, [], {}, sizes)


def _an_operation(epoch: RepeatableTraining) -> float:
    """Seconds of a training's steps, for each floating-point operation of the model's own work on real tokens."""
    trained = epoch.train()
    operations = training_flops(
        epoch.model,
        trained.network.vocabulary,
        trained.run_tokens,
        trained.work.targets,
        trained.work.pairs / trained.run_tokens,
    )
    return trained.work.seconds / operations


def _at_the_peak(device: str, precision: str) -> float:
    return 1.0 / matrix_product_peak(device, precision)
