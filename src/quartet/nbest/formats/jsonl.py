"""Quartet's own form, one list a line, which ingestion writes and every later stage reads.

``{"utt": text, "ref": text, "hypotheses": [{"text": text, "score": number}, ...]}``

"ref" may be missing or null, "score" may be missing from the whole file, "meta" may hold anything and is
ignored. No other key is allowed: a misspelt "score" would otherwise be read as a list without scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.files import write_jsonl
from quartet.nbest.formats import strict, text_file
from quartet.nbest.formats.ingest import ListEntry, NBestFiles, collect
from quartet.nbest.types import NBest

LIST_KEYS = ("utt", "ref", "hypotheses", "meta")
HYPOTHESIS_KEYS = ("text", "score", "meta")


def read(path: str | Path) -> list[NBest]:
    """Every list of the file, in its order.

    Raises:
        InputError: anything is malformed; it names the file, the line, the utterance and the reason.
    """
    return collect(entries(NBestFiles(Path(path))), path).lists


def write(path: str | Path, lists: Iterable[NBest]) -> None:
    """Write lists so that `read` gives them back equal; the same lists give the same bytes."""
    write_jsonl(path, (_row(one) for one in lists))


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each line that is not blank."""
    path = files.hypotheses
    for number, line in text_file.lines(path, closed=False):
        place = f"{path}:{number}"
        if isinstance(line, InputError):
            yield ListEntry(place, line)
        elif line.strip(text_file.BLANK):
            yield _entry(line, path, number)


def _entry(line: str, path: Path, number: int) -> ListEntry:
    place = f"{path}:{number}"
    try:
        fields = _allowed(strict.parse(line, path, number), LIST_KEYS, place)
        if "utt" not in fields:
            raise InputError(place, 'has no "utt"')
        utterance = strict.text_of(fields["utt"], f"{place}, utt")
    except InputError as error:
        return ListEntry(place, error)
    place = f'{place}: utterance "{utterance}"'
    return ListEntry.of(place, lambda: _list(utterance, fields, place), number, utterance)


def _list(utterance: str, fields: dict[str, Any], place: str) -> NBest:
    hypotheses = []
    rows = strict.elements(fields.get("hypotheses", []), f"{place}, hypotheses")
    for index, row in enumerate(rows, start=1):
        inner = f"{place}, hypothesis {index}"
        hypotheses.append(strict.hypothesis_of(_allowed(row, HYPOTHESIS_KEYS, inner), inner))
    return strict.list_of(utterance, hypotheses, strict.reference_of(fields, place), place)


def _allowed(value: Any, keys: tuple[str, ...], place: str) -> dict[str, Any]:
    """The object's fields, if it has no key but these."""
    fields = strict.unique(value, place)
    for key in fields:
        if key not in keys:
            raise InputError(place, f'unknown key "{key}"', f"the keys are {', '.join(keys)}")
    return fields


def _row(one: NBest) -> dict[str, Any]:
    hypotheses: list[dict[str, Any]] = []
    for hypothesis in one.hypotheses:
        scored = {} if hypothesis.score is None else {"score": hypothesis.score}
        hypotheses.append({"text": hypothesis.text, **scored})
    known = {} if one.reference is None else {"ref": one.reference}
    return {"utt": one.utterance, "hypotheses": hypotheses, **known}
