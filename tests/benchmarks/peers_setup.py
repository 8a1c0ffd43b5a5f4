"""A small setting of the comparisons, which several tests share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.models import SHAPES
from benchmarks.peers.setup import BenchmarkSetup
from tests.small_corpus import documents

SENTENCES = [sentence for document in documents(8, 5) for sentence in document.sentences]


def small_setup(folder: Path, **changes: Any) -> BenchmarkSetup:
    """One round of everything on made-up sentences."""
    settings: dict[str, Any] = {
        "sentences": SENTENCES,
        "shape": SHAPES["tiny"],
        "folder": folder,
        "python": Path(sys.executable),
        "device": "cpu",
        "words": 4,
        "hypotheses": 3,
        "rescored": 3,
        "lengths": [2, 5, 10],
        "timed": 5,
        "trained": 24,
        "batch_size": 8,
        "parts": 2,
        "precisions": ["fp32"],
        "rounds": 1,
    }
    return BenchmarkSetup(**{**settings, **changes})
