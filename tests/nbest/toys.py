"""A language model that takes no time, for tests of what is done with scores."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np


class Words:
    """Scores each word by its letters, whatever stands beside it; it keeps the texts that it was asked about.

    Attributes:
        pseudo: no closing token is predicted; where there is one, it costs a nat.
    """

    name, scale, device, masks, fingerprint = "words", "no parameters", "cpu", False, "words"

    def __init__(self, pseudo: bool = True) -> None:
        self.pseudo = pseudo
        self.calls: list[list[str]] = []

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        self.calls.append(list(texts))
        closing = [] if self.pseudo else [-1.0]
        return [
            np.array([-0.5 - zlib.crc32(word.encode()) % 7 - (not masked) for word in text.split()] + closing)
            for text in texts
        ]
