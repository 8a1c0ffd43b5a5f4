"""Readers of the small sets, each a typed record. What is malformed is named with file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.evaluation.sets.tables import number_of, text_lines

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TokenIds = Sequence[int] | NDArray[np.integer[Any]]  # of one text

LABEL_PREFIX = "__label__"


@dataclass(frozen=True)
class SimilaritySet:
    """Pairs of texts that people scored for likeness of meaning.

    Attributes:
        texts: the T distinct texts.
        first, second: (P,) the texts of each pair as indices.
        gold: (P,) the human scores.
        shared: True where texts stand in many pairs, so that a bootstrap must resample texts, not pairs.
        parts: (P,) the part, a sub-task, that each pair belongs to; None where the set is one.
    """

    texts: tuple[str, ...]
    first: Ints
    second: Ints
    gold: Floats
    shared: bool
    parts: Ints | None = None


@dataclass(frozen=True)
class WordPairs:
    """P pairs of words with human scores of likeness, `gold` (P,)."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    gold: Floats


@dataclass(frozen=True)
class LabelledText:
    """A text and its class."""

    text: str
    label: str


def read_lee(texts_path: str | Path, similarities_path: str | Path) -> SimilaritySet:
    """Lee, Pincombe and Welsh's documents, one a line, with the matrix of their mean human similarity.

    The matrix (tab-separated, a row a document) is upper triangular; all pairs above its diagonal are taken,
    1,225 for the 50 documents of the set. The texts are in Windows-1252.

    Raises:
        InputError: a file is missing or malformed, or the two do not fit each other.
    """
    texts = []
    for place, line in text_lines(Path(texts_path), "cp1252"):
        if not line.strip():
            raise InputError(place, "an empty document")
        texts.append(line.strip())
    if len(texts) < 3:
        raise InputError(texts_path, f"holds {len(texts)} documents, at least 3 were expected")
    rows = []
    for place, line in text_lines(Path(similarities_path)):
        cells = line.split("\t")
        if len(cells) != len(texts):
            raise InputError(place, f"{len(cells)} numbers, but {texts_path} holds {len(texts)} documents")
        rows.append([number_of(cell, place) for cell in cells])
    if len(rows) != len(texts):
        raise InputError(
            similarities_path, f"{len(rows)} rows, but {texts_path} holds {len(texts)} documents"
        )
    first, second = np.triu_indices(len(texts), k=1)
    gold = np.array(rows)[first, second]
    return SimilaritySet(tuple(texts), first.astype(np.int64), second.astype(np.int64), gold, shared=True)


def read_word_pairs(path: str | Path) -> WordPairs:
    """WordSim-353 or SimLex-999: lines of two words and a score, tab-separated; # begins a note.

    Every line counts, also where a set holds a pair twice (money, cash) or a word with itself (tiger, tiger).

    Raises:
        InputError: the file is missing, empty, or a line is malformed.
    """
    first, second, gold = [], [], []
    for place, line in text_lines(Path(path)):
        if line.startswith("#") or not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 3 or not cells[0] or not cells[1]:
            raise InputError(place, "two words and a score, separated by tabs, were expected")
        first.append(cells[0])
        second.append(cells[1])
        gold.append(number_of(cells[2], place))
    if not gold:
        raise InputError(path, "holds no pair of words")
    return WordPairs(tuple(first), tuple(second), np.array(gold))


def read_labelled(path: str | Path) -> list[LabelledText]:
    """Labelled sentences, one a line: ``__label__pos the text`` (fastText's form), in Windows-1252.

    Raises:
        InputError: the file is missing, a line has no label or no text, or there are not two labels at least.
    """
    examples = []
    for place, line in text_lines(Path(path), "cp1252"):
        head, _, text = line.strip().partition(" ")
        if not head.startswith(LABEL_PREFIX) or head == LABEL_PREFIX:
            raise InputError(place, f'a line "{LABEL_PREFIX}<label> <text>" was expected')
        if not text.strip():
            raise InputError(place, "the label has no text")
        examples.append(LabelledText(text.strip(), head.removeprefix(LABEL_PREFIX)))
    if len({example.label for example in examples}) < 2:
        raise InputError(path, "fewer than two different labels")
    return examples
