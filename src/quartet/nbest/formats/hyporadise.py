"""The JSON of HyPoradise (Hypo2Trans), as one list or, as `datasets` writes it, an object a line.

``[{"input": [text, ...], "output": text, "score": [number, ...], "id": text}, ...]``

"input" holds the hypotheses, best first, and "output" the reference, which may be missing or null. "score" (in
some sets "am_score") has a log-score a hypothesis; most sets have none, and the rank stands for them. "id" is
the utterance's name; without one it is the entry's number from 1. All other keys are ignored, and so are blank lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.nbest.formats import strict, text_file
from quartet.nbest.formats.ingest import ListEntry, NBestFiles
from quartet.nbest.types import Hypothesis, NBest

SCORE_KEYS = ("score", "am_score")


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each object.

    Raises:
        InputError: the file begins as a list and is not JSON (it names the line and column), or it is neither.
    """
    path = files.hypotheses
    if text_file.read_bytes(path).removeprefix(text_file.BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        yield from _of_lines(path)
        return
    root = strict.parse(text_file.read_text(path), path)
    for number, value in enumerate(strict.elements(root, str(path)), start=1):
        yield _entry(number, value, f"{path}: entry {number}")


def _of_lines(path: Path) -> Iterator[ListEntry]:
    filled = (
        (at, line)
        for at, line in text_file.lines(path, closed=False)
        if isinstance(line, InputError) or line.strip(text_file.BLANK)
    )
    for number, (at, line) in enumerate(filled, start=1):
        try:
            if isinstance(line, InputError):
                raise line
            value = strict.parse(line, path, at)
        except InputError as error:
            yield ListEntry(f"{path}:{at}", error)
        else:
            yield _entry(number, value, f"{path}:{at}", at)


def _entry(number: int, value: Any, place: str, line: int | None = None) -> ListEntry:
    try:
        fields = strict.unique(value, place)
        utterance = strict.text_of(fields.get("id", str(number)), f"{place}, id")
    except InputError as error:
        return ListEntry(place, error)
    place = f'{place}, utterance "{utterance}"'
    return ListEntry.of(place, lambda: _list(utterance, fields, place), line, utterance)


def _list(utterance: str, fields: dict[str, Any], place: str) -> NBest:
    """The list of one utterance from its JSON object."""
    if "input" not in fields:
        raise InputError(place, 'has no "input"')
    texts = [
        strict.text_of(text, f"{place}, input {index}")
        for index, text in enumerate(strict.elements(fields["input"], f"{place}, input"), start=1)
    ]
    scores: list[float | None] = [None] * len(texts)
    keys = [key for key in SCORE_KEYS if key in fields]
    if len(keys) > 1:
        raise InputError(place, f"has scores under {' and '.join(keys)}: which are the first pass's?")
    for key in keys:
        rows = strict.elements(fields[key], f"{place}, {key}")
        if len(rows) != len(texts):
            raise InputError(f"{place}, {key}", f"has {len(rows)} scores for {len(texts)} hypotheses")
        scores = [strict.score_of(row, f"{place}, {key} {index}") for index, row in enumerate(rows, start=1)]
    hypotheses = [Hypothesis(text, score) for text, score in zip(texts, scores, strict=True)]
    return strict.list_of(utterance, hypotheses, strict.reference_of(fields, place, "output"), place)
