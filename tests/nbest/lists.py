"""Hand-made lists for the tests of this folder, a generator of many, and a language model that takes no time."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quartet.nbest.formats import NBestFiles, read
from quartet.nbest.types import Hypothesis, NBest

SMALL = Path(__file__).parent.parent / "fixtures" / "nbest" / "small.json"


def nbest(utterance: str, reference: str | None, *hypotheses: tuple[str, float] | tuple[str, None]) -> NBest:
    """A list from (text, score) pairs."""
    return NBest(utterance, tuple(Hypothesis(text, score) for text, score in hypotheses), reference)


def lists_of(name: str, path: Path) -> list[NBest]:
    """The lists of a file in the format `name`."""
    return read(name, NBestFiles(path)).lists


def random_lists(count: int, seed: int) -> list[NBest]:
    """Lists of up to 12 hypotheses over a few words, with empty and repeated texts and missing references."""
    generator = random.Random(seed)

    def sentence() -> str:
        return " ".join(generator.choices(["a", "b", "c", "dd", "été"], k=generator.randint(0, 8)))

    lists = []
    for index in range(count):
        hypotheses = [
            Hypothesis(sentence(), round(-generator.random() * 9, 4)) for _ in range(generator.randint(1, 12))
        ]
        reference = None if generator.random() < 0.1 else sentence()
        lists.append(NBest(f"u{index}", tuple(hypotheses), reference))
    return lists


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
