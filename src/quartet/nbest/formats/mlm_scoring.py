"""The JSON of mlm-scoring, which converters from ESPnet write too.

``{utterance: {"ref": text, "hyp_1": {"score": number, "text": text}, ...}, ...}``

The hypotheses are numbered from 1 without a gap; they may also stand together in an object under "hyp". "ref"
may be missing or null; "score" may be missing from every hypothesis of the file (the rank then stands for
it); other keys of an utterance or a hypothesis are ignored, unless they start with "hyp".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.nbest.formats import strict, text_file
from quartet.nbest.formats.ingest import ListEntry, NBestFiles
from quartet.nbest.types import NBest

HYPOTHESIS_KEY = re.compile(r"hyp_([1-9][0-9]{0,8})")


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each utterance.

    Raises:
        InputError: the file is not JSON (it names the line and column), or no object.
    """
    path = files.hypotheses
    root = strict.parse(text_file.read_text(path), path)
    if not isinstance(root, strict.JsonFields):
        raise InputError(path, f"an object of utterances was expected, not {strict.kind(root)}")
    for utterance, value in root:
        yield _entry(utterance, value, path)


def _entry(utterance: str, value: Any, path: Path) -> ListEntry:
    place = f'{path}: utterance "{utterance}"'
    return ListEntry.of(
        place, lambda: _list(strict.text_of(utterance, place), value, place), utterance=utterance
    )


def _list(utterance: str, value: Any, place: str) -> NBest:
    """The list of one utterance from its JSON object."""
    fields = strict.unique(value, place)
    reference = strict.reference_of(fields, place)
    if "hyp" in fields:
        if any(HYPOTHESIS_KEY.fullmatch(key) for key in fields):
            raise InputError(place, 'has hypotheses beside "hyp" as well as in it')
        place = f"{place}, hyp"
        fields = strict.unique(fields["hyp"], place)
    numbers = []
    for key in fields:
        match = HYPOTHESIS_KEY.fullmatch(key)
        if match:
            numbers.append(int(match[1]))
        elif key.startswith("hyp"):
            raise InputError(place, f'the key "{key}" is not hyp_1, hyp_2, ...')
    numbers.sort()
    for expected, number in enumerate(numbers, start=1):
        if number != expected:
            raise InputError(place, f"hyp_{expected} is missing but hyp_{number} is there")
    hypotheses = []
    for number in numbers:
        inner = f"{place}, hyp_{number}"
        hypotheses.append(strict.hypothesis_of(strict.unique(fields[f"hyp_{number}"], inner), inner))
    return strict.list_of(utterance, hypotheses, reference, place)
