"""Scores that outlive a reranking: a killed one goes on from them, and the next one scores only what is new."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import get_args

import numpy as np

from pipeline.layout import Layout
from pipeline.progress import bar
from pipeline.scorers import Scorer
from quartet import code
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import score_all


class KeptScores:
    """The token log-probabilities of ``rerank@name``, kept beside the resume points of trainings.

    When the block ends without an error, those that it did not ask for (of an earlier model, of older code, of lists
    that are no longer there) are removed. Another grid of weights, a further set of lists: what was scored is there.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        self._folder = layout.resume(f"rerank@{name}", 0).parent  # no model can have this name
        self._code = code.fingerprint(score_all.__module__, *(kind.__module__ for kind in get_args(Scorer)))
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
