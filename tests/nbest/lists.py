"""Hand-made lists for the tests of this folder, and a generator of many."""

from __future__ import annotations

import random
from pathlib import Path

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
