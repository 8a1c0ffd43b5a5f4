"""Text without end: made-up documents that cost no disk and no memory, to see what a large corpus takes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate, product
from pathlib import Path

from quartet.text.documents import Document, Paragraph

SYLLABLES = ("ba", "den", "fi", "gor", "hul", "ka", "lem", "mi", "nor", "pu", "ral", "se", "tov", "wi", "zan")

WORDS = [*map("".join, product(SYLLABLES, repeat=2)), *map("".join, product(SYLLABLES, repeat=3))]
"""Of two and three syllables, the first the most frequent, as in Zipf's law."""

PARAGRAPHS = 12
"""Of each document."""


def made_up(characters: int) -> Callable[[Path], Iterator[Document]]:
    """A reader that reads no file, but makes documents up until they have so many characters; always the same ones."""

    def read(path: Path) -> Iterator[Document]:
        weights = list(accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))
        made = number = 0
        while made < characters:
            draw = random.Random(number)
            paragraphs = tuple(Paragraph(_paragraph(draw, weights)) for _ in range(PARAGRAPHS))
            document = Document(str(number), f"Tale {number}", paragraphs)
            yield document
            number, made = number + 1, made + document.size

    return read


def _paragraph(draw: random.Random, weights: list[float]) -> str:
    """Three to eight sentences, some with an abbreviation before a name."""
    sentences = []
    for _ in range(draw.randint(3, 8)):
        words = draw.choices(WORDS, cum_weights=weights, k=draw.randint(6, 30))
        if draw.random() < 0.2:
            words[2:2] = ["Dr.", draw.choice(WORDS).capitalize()]
        sentences.append(f"{words[0].capitalize()} {' '.join(words[1:])}.")
    return " ".join(sentences)
