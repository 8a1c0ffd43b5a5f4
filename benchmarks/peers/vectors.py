"""Sentence vectors of one BERT of Hugging Face: sentence-transformers' mean pooling and our own."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, at_least, equal
from benchmarks.peers.paired_times import in_turns, quickest_way
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.worker import Worker
from quartet.runtime.clock import Timer, device_timer
from quartet.scoring.pretrained_lm import PretrainedLM, load_pretrained

SCRIPT = "sentence_transformers_worker.py"

#: What sentence-transformers is tried with (32 is its own choice); the quickest is what counts.
BATCHES = (8, 32, 128)

#: Seconds of theirs over those of ours, on a GPU.
ON_GPU = at_least(1)

#: The largest difference of an element.
TOLERANCE = 1e-4


def study(setup: BenchmarkSetup) -> BenchmarkResult:
    """Embed the same sentences with the same weights, nothing hidden.

    sentence-transformers' mean has the special tokens in it, and ours has not. So for the check ours is made into
    theirs with our vectors of the first and the last token; what is timed is each library's own mean.
    """
    ours = load_pretrained(str(setup.bert), setup.device)
    texts = setup.spread(setup.timed)
    with Worker(setup.peer, SCRIPT) as worker:
        told = worker.ask(load=str(setup.bert), threads=torch.get_num_threads(), device=setup.device)

        def peer(batch: int) -> Timer:
            return lambda: float(worker.ask(texts=texts, batch=batch)["seconds"])

        trial: dict[str, Timer] = {str(batch): peer(batch) for batch in BATCHES}
        batch = int(quickest_way(trial))
        theirs = worker.ask(texts=texts, batch=batch, vectors=True)["vectors"]
        check = equal(
            "sentence-transformers and Quartet: mean over all tokens",
            theirs,
            with_specials(ours, texts),
            TOLERANCE,
        )
        found = in_turns(
            {
                "sentence-transformers": peer(batch),
                "Quartet": device_timer(lambda: ours.embed(texts, masked=False)),
            },
            setup.rounds,
        )
    ratios = found.ratios("sentence-transformers", "Quartet")
    demand = ON_GPU if setup.on_gpu else None
    figure = BenchmarkFigure.of("vectors: sentence-transformers / ours, of the same BERT", ratios, demand)
    sizes = setup.described() | {"sentences": len(texts), "their_batch": batch, "peer": dict(told)}
    return BenchmarkResult([figure], [check], found.medians, sizes)


def with_specials(model: PretrainedLM, texts: list[str]) -> np.ndarray:
    """(len(texts), D): the mean over a text's tokens and one special token on either side."""
    own = np.array([len(ids) for ids in model.tokenizer(texts, add_special_tokens=False)["input_ids"]])
    mean, first, last = (model.embed(texts, layer, masked=False) for layer in ("context", "first", "last"))
    found: np.ndarray = (own[:, None] * mean + first + last) / (own[:, None] + 2)
    return found
