"""Masked and causal scores of one model of Hugging Face, by minicons and by us, in turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from quartet.runtime.peers.paired import in_turns
from quartet.runtime.peers.worker import Worker
from quartet.scoring.pretrained import load_pretrained

SCRIPT = "minicons_worker.py"


def study(
    python: str | Path,
    folder: Path,
    texts: Sequence[str],
    timed: int,
    batches: Sequence[int],
    rounds: int,
) -> dict[str, Any]:
    """Compare the scores of all texts, and the seconds of the first few.

    Args:
        python: of an environment with minicons.
        folder: the model; both libraries read these files.
        texts: all are scored once by both.
        timed: how many of them are timed.
        batches: texts that minicons is given at once; each is a way of its own, for it pads what it is given.
        rounds: of timing.

    Returns:
        The largest difference of a score in nats, seconds (medians) and ratios ``minicons-<batch> / quartet``.
    """
    ours = load_pretrained(str(folder))
    texts, few = list(texts), list(texts)[:timed]
    with Worker(python, SCRIPT) as worker:
        kind = "masked" if ours.masks else "causal"
        told = worker.ask(load=str(folder), kind=kind, threads=torch.get_num_threads())
        theirs = worker.ask(texts=texts, batch=1)["scores"]
        difference = float(np.abs(np.array(theirs) - np.array(ours.score(texts))).max())

        def peer(batch: int) -> float:
            return float(worker.ask(texts=few, batch=batch)["seconds"])

        ways: dict[str, Any] = {f"minicons-{batch}": (lambda batch=batch: peer(batch)) for batch in batches}
        ways["quartet"] = lambda: _score(ours, few)
        found = in_turns(ways, rounds)
    return {
        "model": ours.scale,
        "kind": kind,
        "peer": dict(told),
        "texts": len(texts),
        "largest_difference": difference,
        "timed_texts": len(few),
        "seconds": {name: found.median(name) for name in ways},
        "ratios": {f"{name} / quartet": found.ratio(name, "quartet") for name in ways if name != "quartet"},
    }


def _score(model: Any, texts: list[str]) -> None:
    model.score(texts)
