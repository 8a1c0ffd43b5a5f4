"""Pairs of words that people scored: WordSim-353 and SimLex-999."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quartet.errors import InputError
from quartet.statistics.intervals import Floats
from quartet.tasks.set_files import SetKind, number_of, text_lines

HEADS = "a line of names begins with #; other columns are cut off"


@dataclass(frozen=True)
class WordPairs:
    """P pairs of words with human scores of likeness, `gold` (P,)."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    gold: Floats


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
            raise InputError(place, "two words and a score, separated by tabs, were expected", HEADS)
        first.append(cells[0])
        second.append(cells[1])
        try:
            gold.append(number_of(cells[2], place))
        except InputError as error:
            raise InputError(place, error.reason, HEADS) from error
    if not gold:
        raise InputError(path, "holds no pair of words")
    return WordPairs(tuple(first), tuple(second), np.array(gold))


KIND = SetKind("word-similarity", roles=("pairs",), read=read_word_pairs)
