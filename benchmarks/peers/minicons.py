"""Masked (or causal) scores of one model of Hugging Face, by minicons and by us, and T-TA's of the same sizes."""

from __future__ import annotations

import torch

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, EqualityCheck, at_least, equal
from benchmarks.peers.paired_times import in_turns, quickest_way
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.worker import Worker
from quartet.runtime.clock import Timer, device_timer
from quartet.scoring.pretrained_lm import load_pretrained

SCRIPT = "minicons_worker.py"

#: What minicons is tried with: it pads, so fewer texts at once may be quicker. The quickest is what counts.
BATCHES = (1, 4, 10)
#: Texts of that trial.
TRIAL = 8

#: Nats of a text's score that the two libraries may be apart.
TOLERANCE = 5e-3

#: Seconds of minicons over those of T-TA, and over those of our batched masked scores.
OVER_TTA, OVER_OURS = at_least(30), at_least(3)


def study(setup: BenchmarkSetup) -> BenchmarkResult:
    """Score the same sentences, each token hidden in turn; both libraries read the same files.

    T-TA has the same sizes and pieces and other (random) weights: its scores are of its own kind, its time is compared.
    """
    ours = load_pretrained(str(setup.bert), setup.device)
    tta = setup.model("tta")
    texts = setup.spread(setup.timed)
    with Worker(setup.peer, SCRIPT) as worker:
        kind = "masked" if ours.masks else "causal"
        told = worker.ask(
            load=str(setup.bert), kind=kind, threads=torch.get_num_threads(), device=setup.device
        )

        def peer(batch: int, asked: list[str]) -> Timer:
            return lambda: float(worker.ask(texts=asked, batch=batch)["seconds"])

        few = texts[:TRIAL]
        trial: dict[str, Timer] = {str(batch): peer(batch, few) for batch in BATCHES}
        batch = int(quickest_way(trial))
        theirs = worker.ask(texts=texts, batch=batch)["scores"]
        checks = [
            equal(
                "minicons and Quartet: masked scores, nats",
                theirs,
                ours.score(texts, unknown="warn"),
                TOLERANCE,
            ),
            _same_tokens(setup, texts, ours.tokenizer),
        ]
        ways: dict[str, Timer] = {
            "minicons": peer(batch, texts),
            "BERT's masked scores, batched": device_timer(lambda: ours.score(texts)),
            "T-TA": device_timer(lambda: tta.score(texts)),
        }
        found = in_turns(ways, setup.rounds)
    figures = [
        BenchmarkFigure.of("minicons' masked scores / T-TA", found.ratios("minicons", "T-TA"), OVER_TTA),
        BenchmarkFigure.of(
            "minicons' masked scores / ours, batched, of the same BERT",
            found.ratios("minicons", "BERT's masked scores, batched"),
            OVER_OURS,
        ),
    ]
    sizes = setup.described() | {"sentences": len(texts), "minicons_batch": batch, "peer": dict(told)}
    return BenchmarkResult(figures, checks, found.medians, sizes)


def _same_tokens(setup: BenchmarkSetup, texts: list[str], tokenizer: object) -> EqualityCheck:
    """T-TA and the BERT read the same pieces."""
    theirs = tokenizer(texts, add_special_tokens=False)["input_ids"]  # type: ignore[operator]
    own = setup.tokenizer.encode_batch(texts)
    return equal("T-TA and BERT: tokens of each sentence", [*map(len, own)], [*map(len, theirs)], 0)
