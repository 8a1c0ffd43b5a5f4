"""The n-best lists of Moses and of the translators that write like it (Joshua, Marian, cdec).

``0 ||| hypothesis ||| features ||| score``

A line a hypothesis, those of a sentence together, sentences numbered from 0 (some may be missing). The score
is the decoder's total, larger is better. The features are not read, whatever their style. After the score
there may be alignments, and where Marian writes them (``--alignment``, ``--word-scores``) they and the scores of words
stand before the features. The utterance's name is the sentence's number, so a plain text file of references
holds the reference of number n in line n + 1.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.nbest.formats import text_file
from quartet.nbest.formats.ingest import ListEntry, NBestFiles
from quartet.nbest.types import Hypothesis, NBest

SEPARATOR = "|||"
SENTENCE = re.compile(r"0|[1-9][0-9]{0,17}")
#: Words of an alignment: 0-0, 0-2=1-3, 0=0. A line that lost its end runs into the next, whose words are none.
ALIGNED = re.compile(r"[0-9]+([-,=][0-9]+)+")
#: Words of Marian's soft alignments, a share of each source word: 0.9,0.1
SHARED = re.compile(r"[0-9.]+(e-?[0-9]+)?(,[0-9.]+(e-?[0-9]+)?)+")
WORD_SCORES = "WordScores="


@dataclass(frozen=True)
class _Line:
    """A line, or why it is no hypothesis; without a sentence's number nobody knows whose it is."""

    number: int
    sentence: str | None
    found: Hypothesis | InputError


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each run of lines with one number, and for each line whose number cannot be read.

    A list beside such a line is an error too: the line may be one of its own.
    """
    path = files.hypotheses
    read = [_line(line, path, number) for number, line in text_file.lines(path)]
    lost = [line for line in read if line.sentence is None]
    for line in lost:
        assert isinstance(line.found, InputError)
        yield ListEntry(f"{path}:{line.number}", line.found)
    beside = {line.number + step for line in lost for step in (-1, 1)}
    for sentence, group in itertools.groupby(read, key=lambda line: line.sentence):
        if sentence is not None:
            yield _entry(sentence, list(group), beside, path)


def begins(line: str) -> bool:
    """Whether a line begins with a sentence's number and |||."""
    number, separator, _ = line.partition(SEPARATOR)
    return bool(separator) and SENTENCE.fullmatch(number.strip(text_file.BLANK)) is not None


def _entry(sentence: str, group: list[_Line], beside: set[int], path: Path) -> ListEntry:
    place = f'{path}:{group[0].number}: sentence "{sentence}"'

    def make() -> NBest:
        hypotheses = []
        for line in group:
            if isinstance(line.found, InputError):
                raise line.found
            hypotheses.append(line.found)
        if {group[0].number, group[-1].number} & beside:
            raise InputError(place, "a line beside it cannot be read and may be one of its own")
        return NBest(sentence, tuple(hypotheses))

    return ListEntry.of(place, make, group[0].number, sentence)


def _line(line: str | InputError, path: Path, number: int) -> _Line:
    if isinstance(line, InputError):
        return _Line(number, None, line)
    place = f"{path}:{number}"
    sentence, *fields = [field.strip(text_file.BLANK) for field in line.split(SEPARATOR)]
    if not fields or not SENTENCE.fullmatch(sentence):
        reason = "does not start with a sentence's number and |||"
        return _Line(number, None, InputError(place, reason))
    try:
        return _Line(number, sentence, _hypothesis(fields, place))
    except InputError as error:
        return _Line(number, sentence, error)


def _hypothesis(fields: list[str], place: str) -> Hypothesis:
    if len(fields) < 3:
        raise InputError(
            place, f'has {len(fields) + 1} fields, "number ||| text ||| features ||| score" has 4'
        )
    text, *rest = fields
    while len(rest) > 2 and _before_features(rest):
        del rest[0]
    _, score, *alignments = rest
    value = text_file.number_in(score, place)
    for alignment in alignments:
        if not all(ALIGNED.fullmatch(word) for word in alignment.split()):
            raise InputError(place, "what follows the score is no alignment: two lines may run together")
    return Hypothesis(text, value)


def _before_features(rest: list[str]) -> bool:
    """Whether the first of the fields behind the text is one that Marian puts before the features."""
    first = rest[0].split()
    aligned = all(ALIGNED.fullmatch(word) or SHARED.fullmatch(word) for word in first)
    empty = not first and text_file.NUMBER.fullmatch(rest[1]) is not None  # Moses without features
    return (aligned and not empty) or rest[0].startswith(WORD_SCORES)
