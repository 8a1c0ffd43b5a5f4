"""Scores that outlive a killed reranking: kept beside the resume points of trainings, and removed when it is done."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import quartet
from pipeline.layout import Layout
from pipeline.progress import bar
from pipeline.scorers import Scorer
from quartet.files import sha256
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import score_all

#: The code that decides a score, beside the model and the text: after a change of it nothing is taken over.
CODE = ("data", "models", "ngram", "objectives", "scoring", "text", "nbest/normalise.py", "pretrained.py")


@contextmanager
def kept_scores(layout: Layout, name: str) -> Iterator[Path]:
    """The folder for the scores of ``rerank@name``: what a killed run left there is there again.

    When the block ends without an error, it is removed with all that older code left.
    """
    everything = layout.resume(f"rerank@{name}", 0).parent  # no model can have this name
    source = Path(quartet.__file__).parent
    files = [
        file
        for part in CODE
        for file in (sorted((source / part).rglob("*.py")) if (source / part).is_dir() else [source / part])
    ]
    code = hashlib.sha256("\n".join(sha256(file) for file in files).encode()).hexdigest()[:16]
    yield everything / code
    shutil.rmtree(everything, ignore_errors=True)


def scored(
    model: Scorer, texts: Sequence[str], masked: bool, path: Path, label: str
) -> dict[str, np.ndarray]:
    """The log-probabilities of each text's tokens, with a progress bar.

    Args:
        path: of the file that keeps them. Each set of texts needs one of its own: then a chunk of them is either
            scored or taken over as a whole, and the values are those of a run that was not stopped, bit for bit.
    """
    with bar(label) as shown, ScoreCache(path) as cache:
        return dict(zip(texts, score_all(model, texts, masked, cache, shown.set), strict=True))
