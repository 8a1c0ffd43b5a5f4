"""Scores that outlive a reranking: a killed one goes on from them, and the next one scores only what is new."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

import quartet
from pipeline.layout import Layout
from pipeline.progress import bar
from pipeline.scorers import Scorer
from quartet.files import sha256
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import score_all

#: The code that decides a score, beside the model and the text: after a change of it nothing is taken over.
CODE = (
    "data",
    "export",
    "models",
    "ngram",
    "objectives",
    "scoring",
    "text",
    "nbest/normalise.py",
    "pretrained.py",
)


class KeptScores:
    """The token log-probabilities of ``rerank@name``, kept beside the resume points of trainings.

    When the block ends without an error, those that it did not ask for (of an earlier model, of older code, of lists
    that are no longer there) are removed. Another grid of weights, a further set of lists: what was scored is there.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        self._folder = layout.resume(f"rerank@{name}", 0).parent  # no model can have this name
        source = Path(quartet.__file__).parent
        files = [
            file
            for part in CODE
            for file in (
                sorted((source / part).rglob("*.py")) if (source / part).is_dir() else [source / part]
            )
        ]
        self._code = _digest(sha256(file) for file in files)
        self._asked: set[Path] = set()

    def scored(self, model: Scorer, texts: Sequence[str], masked: bool, label: str) -> dict[str, np.ndarray]:
        """The log-probabilities of each text's tokens, with a progress bar.

        Each set of texts has a file of its own for each model, device and reading: so a chunk of them is either
        scored or taken over as a whole, and the values are those of a run that was not stopped, bit for bit.
        """
        what = _digest([self._code, model.fingerprint, model.device, str(masked), *texts])
        path = self._folder / f"{what}.sqlite"
        self._asked.add(path)
        with bar(label) as shown, ScoreCache(path) as cache:
            return dict(zip(texts, score_all(model, texts, masked, cache, shown.set), strict=True))

    def __enter__(self) -> KeptScores:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            for path in set(self._folder.glob("*")) - self._asked:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
