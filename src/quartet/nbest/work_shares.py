"""Texts scored by several processes into one cache, so that the last finds every value that it would compute itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quartet.errors import InputError
from quartet.scoring import engine
from quartet.scoring.cache import ScoreCache

FORM = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True)
class WorkShare:
    """The `number`-th of `of` shares, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str, place: str) -> WorkShare:
        """The share that ``2/4`` names.

        Raises:
            InputError: it names none.
        """
        match = FORM.fullmatch(text)
        if match is None or int(match[1]) > int(match[2]):
            raise InputError(place, f"{text!r} is no share", "write 1/4, 2/4, 3/4 and 4/4 for four processes")
        return cls(int(match[1]), int(match[2]))

    def texts(self, texts: Sequence[str]) -> list[list[str]]:
        """The share's chunks of all texts: whole ones of those that `score_all` makes, which decide a text's batch."""
        ordered = sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text))
        size = engine.CHUNK
        chunks = [ordered[at : at + size] for at in range(0, len(ordered), size)]
        return chunks[self.number - 1 :: self.of]


def score_share(
    model: engine.TextScorer,
    texts: Sequence[str],
    share: WorkShare,
    cache: ScoreCache,
    masked: bool = True,
    progress: engine.Progress | None = None,
) -> int:
    """Score a share of the texts into the cache; how many these are.

    When all shares are there, `score_all` on the same texts with this cache scores nothing, and its values are those
    that it has without a cache: to the last bit on the same kind of machine with as many threads.

    Args:
        texts: all of them, the same for each share.
        masked, progress: as for `score_all`.
    """
    chunks = share.texts(texts)
    total = sum(map(len, chunks))
    done = 0
    for chunk in chunks:
        engine.score_all(model, chunk, masked, cache)
        done += len(chunk)
        if progress is not None:
            progress(done, total)
    return total
