"""A small corpus for the tests: invented sentences with abbreviations, headings and several documents."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from quartet.text.documents import Document, Paragraph

NAMES = ("Hale", "Brook", "Winter", "Moss", "Reed")
PLACES = ("harbour", "market", "station", "garden", "library", "mill")
DEEDS = ("walked to the {}", "slept near the {}", "painted the old {}", "left the {} in the rain")
NAMES_WITH_TITLE = tuple(f"{title} {name}" for title in ("Mr.", "Dr.", "Mrs.") for name in NAMES)


def sentences(count: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    made = []
    for _ in range(count):
        who = generator.choice((*NAMES_WITH_TITLE, "She", "He", "They", "The children"))
        made.append(f"{who} {generator.choice(DEEDS).format(generator.choice(PLACES))}.")
    return made


def documents(count: int) -> list[Document]:
    made = []
    for number in range(count):
        paragraphs = [Paragraph(f"Part {number}", heading=True)]
        paragraphs += [Paragraph(" ".join(sentences(5, seed=100 * number + place))) for place in range(6)]
        made.append(Document(str(number), f"Tale {number}", tuple(paragraphs)))
    return made


def reader(path: Path) -> Iterator[Document]:
    """A reader in the sense of `SOURCES` that yields as many documents as the file at `path` says."""
    yield from documents(int(path.read_text()))
