"""A language model for tests of reranking."""

from __future__ import annotations

import math

import numpy as np


class Toy:
    """A language model that likes one letter."""

    device = "cpu"
    scale = "a toy"
    #: How many more calls there are before someone kills it.
    patience: float = math.inf

    def __init__(self, letter: str, masks: bool) -> None:
        self.letter, self.masks, self.pseudo = letter, masks, True
        self.fingerprint = f"{letter} {masks}"

    def token_logprobs(self, texts: list[str], masked: bool = True) -> list[np.ndarray]:
        if Toy.patience <= 0:
            raise KeyboardInterrupt
        Toy.patience -= 1
        likes = self.letter if masked else "d"
        return [np.array([-0.5 if word == likes else -3.0 for word in text.split()]) for text in texts]
