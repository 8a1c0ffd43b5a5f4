"""Many texts through a language model: each distinct one once, in batches of like length, with a lasting cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from quartet import code
from quartet.arguments import checked_texts
from quartet.errors import InputError
from quartet.scoring.cache import ScoreCache

#: Texts that go to the model, and from there to the cache, at once.
CHUNK = 1024

#: Called with (texts done, texts in all), duplicates counted once.
Progress = Callable[[int, int], None]


class TextScorer(Protocol):
    """What scores texts: our own models, those of Hugging Face, n-grams.

    One that knows which tokens it does not know has a method ``unknown_tokens`` too
    (:mod:`quartet.scoring.unknown`).

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

    The distinct texts that the cache lacks are sorted by length, longest first, and cut into chunks. A chunk is kept
    as a whole, so a run that was stopped and goes on gives the same values, bit for bit. Texts that are scored beside
    others than in an earlier run have that run's values but for rounding.

    Args:
        masked: False: a masked model reads the intact input.
        cache: None: nothing is kept. What other code has put there is scored again.

    Raises:
        InputError: `texts` is one string, or holds what is no text.
    """
    texts = checked_texts(texts)
    distinct = sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text))
    fingerprint = "" if cache is None else f"{model.fingerprint} {_code(model)}"
    keys = {} if cache is None else {text: cache.key(fingerprint, masked, text) for text in distinct}
    known = {} if cache is None else cache.get(list(keys.values()))
    scores = {text: known[key] for text, key in keys.items() if key in known}
    missing = [text for text in distinct if text not in scores]
    if progress is not None and scores:
        progress(len(scores), len(distinct))
    for at in range(0, len(missing), CHUNK):
        chunk = missing[at : at + CHUNK]
        values = [np.asarray(each, dtype=np.float64) for each in model.token_logprobs(chunk, masked)]
        if cache is not None:
            cache.put({keys[text]: each for text, each in zip(chunk, values, strict=True)})
        scores |= zip(chunk, values, strict=True)
        if progress is not None:
            progress(len(scores), len(distinct))
    return [scores[text] for text in texts]


def _code(model: TextScorer) -> str:
    """A name for the code that makes the scores: of classes that are not Quartet's only what they inherit from it."""
    modules = {kind.__module__ for kind in type(model).__mro__}
    return code.fingerprint(__name__, *sorted(filter(code.module_file, modules)))


Scorer = TypeVar("Scorer", bound=TextScorer)


def as_pickled(found: Scorer, place: Path, fingerprint: str) -> Scorer:
    """What was found at the place of a pickled model, where its library cannot pickle it.

    A pickle names its place and what it was, and it is opened from there.

    Raises:
        InputError: it is another model.
    """
    if found.fingerprint != fingerprint:
        reason = "is no longer the model that was pickled, or its library has another version"
        raise InputError(place, reason, "load it again")
    return found
