"""Many texts through a language model: each distinct one once, in batches of like length, with a lasting cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from quartet.arguments import checked_texts
from quartet.scoring.cache import ScoreCache

#: Texts that go to the model, and from there to the cache, at once.
CHUNK = 1024

#: Called with (texts done, texts in all), duplicates counted once.
Progress = Callable[[int, int], None]


class TextScorer(Protocol):
    """What scores texts: our own models, those of Hugging Face, n-grams.

    Attributes:
        name: for tables.
        scale: one line that goes beside every figure of it.
        device: what computes.
        masks: mask-and-predict and the intact input are two readings.
        fingerprint: equal only for models that give equal scores.
    """

    @property
    def name(self) -> str: ...

    @property
    def scale(self) -> str: ...

    @property
    def device(self) -> str: ...

    @property
    def masks(self) -> bool: ...

    @property
    def fingerprint(self) -> str: ...

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]: ...


def score_all(
    model: TextScorer,
    texts: Sequence[str],
    masked: bool = True,
    cache: ScoreCache | None = None,
    progress: Progress | None = None,
) -> list[np.ndarray]:
    """Natural log-probabilities of each text's tokens, in the order of the texts.

    The distinct texts are sorted by length, longest first, and cut into chunks. A chunk is scored as a whole or taken
    from the cache as a whole, so a run that was stopped and goes on gives the same values, bit for bit.

    Args:
        masked: False: a masked model reads the intact input.
        cache: None: nothing is kept.
    """
    texts = checked_texts(texts)
    distinct = sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text))
    scores: dict[str, np.ndarray] = {}
    for at in range(0, len(distinct), CHUNK):
        chunk = distinct[at : at + CHUNK]
        scores |= zip(chunk, _score_chunk(model, chunk, masked, cache), strict=True)
        if progress is not None:
            progress(len(scores), len(distinct))
    return [scores[text] for text in texts]


def _score_chunk(
    model: TextScorer, chunk: list[str], masked: bool, cache: ScoreCache | None
) -> list[np.ndarray]:
    if cache is None:
        return model.token_logprobs(chunk, masked)
    keys = [cache.key(model.fingerprint, masked, text) for text in chunk]
    known = cache.get(keys)
    if len(known) == len(chunk):
        return [known[key] for key in keys]
    values = model.token_logprobs(chunk, masked)
    cache.put(dict(zip(keys, values, strict=True)))
    return values
