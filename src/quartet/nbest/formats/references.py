"""References from a file of their own: JSON, TRN or plain text, told by the file's name (".gz" may follow).

* ``.json``: ``{utterance: text, ...}``; null where there is none.
* ``.trn``: ``text (utterance)`` a line.
* any other: ``utterance text`` a line; for lists whose utterances have numbers for names, the text alone, a
  line an utterance (see `quartet.nbest.formats.reading.Names`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.errors import InputError
from quartet.nbest.formats import strict, text_file
from quartet.nbest.formats.reading import Names, References

TRN = re.compile(r"(.*?)[ \t]*\(([^()\s]+)\)[ \t]*")
ALTERNATIVES = re.compile(r"\{.*/.*\}")

#: An utterance with its text, or why there is none; with where it stands.
Pair = tuple[str, str | None] | InputError


def read(path: Path, names: Names, skip: bool = False) -> References:
    """The references of a file.

    Args:
        names: what the lists call their utterances.
        skip: malformed ones are counted and left out; else the first one ends the reading.

    Raises:
        InputError: one is malformed or its utterance occurs twice, and `skip` is off; or nothing can be read.
    """
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    lines = None
    if kind == ".json":
        pairs = _json(path)
    elif kind == ".trn":
        pairs = _lines(path, _trn)
    elif names.first is None:
        pairs = _lines(path, _named)
    else:
        pairs = _numbered(path, names.first)
    texts: dict[str, str | None] = {}
    refused: list[InputError] = []
    for place, pair in pairs:
        if not isinstance(pair, InputError) and pair[0] in texts:
            pair = InputError(place, f'utterance "{pair[0]}" occurs twice')
        if not isinstance(pair, InputError):
            texts[pair[0]] = pair[1]
        elif skip:
            refused.append(pair)
        else:
            raise pair
    if kind not in (".json", ".trn") and names.first is not None:
        lines = len(texts) + len(refused)
    return References(texts, tuple(refused), lines)


def _json(path: Path) -> Iterator[tuple[str, Pair]]:
    root = strict.parse(text_file.read_text(path), path)
    if not isinstance(root, strict.Fields):
        raise InputError(path, f"an object of references was expected, not {strict.kind(root)}")
    for utterance, value in root:
        place = f'{path}: utterance "{utterance}"'
        try:
            text = None if value is None else strict.text_of(value, place)
            yield str(path), (strict.text_of(utterance, place), text)
        except InputError as error:
            yield str(path), error


def _lines(path: Path, pair: Callable[[str, str], Pair]) -> Iterator[tuple[str, Pair]]:
    """A pair for each line that is not blank."""
    for number, line in text_file.lines(path):
        place = f"{path}:{number}"
        if isinstance(line, InputError):
            yield place, line
        elif line.strip(text_file.BLANK):
            yield place, pair(line, place)


def _numbered(path: Path, first: int) -> Iterator[tuple[str, Pair]]:
    """A pair for each line, blank ones too: silence has a line like any other text."""
    for number, line in text_file.lines(path):
        yield f"{path}:{number}", line if isinstance(line, InputError) else (str(first + number - 1), line)


def _named(line: str, place: str) -> Pair:
    utterance, *rest = re.split("[ \t]+", line.strip(text_file.BLANK), maxsplit=1)
    return utterance, "".join(rest)


def _trn(line: str, place: str) -> Pair:
    match = TRN.fullmatch(line)
    if match is None:
        return InputError(place, '"text (utterance)" was expected')
    if ALTERNATIVES.search(match[1]):
        return InputError(
            place, "it leaves the choice between texts ({ a / b })", "write the one that counts"
        )
    return match[2], match[1]
