"""The JSON of mlm-scoring.

``{utterance: {"ref": text, "hyp_1": {"score": number, "text": text}, ...}, ...}``

The hypotheses are numbered from 1 without a gap. "ref" may be missing or null; "score" may be missing from
every hypothesis of the file (the rank then stands for it); other keys of an utterance or a hypothesis are
ignored, unless they start with "hyp". The file is .json or gzipped.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.nbest.formats import strict
from quartet.nbest.types import NBest

HYPOTHESIS_KEY = re.compile(r"hyp_([1-9][0-9]{0,8})")


def read(path: str | Path) -> list[NBest]:
    """Every list of the file, in its order.

    Raises:
        InputError: anything is malformed; it names the file, the utterance (the line and column where the
            syntax is broken) and the reason.
    """
    root = strict.parse(strict.read_text(path), path)
    if not isinstance(root, strict.Fields):
        raise InputError(path, f"an object of utterances was expected, not {strict.kind(root)}")
    seen: set[str] = set()
    lists = []
    for utterance, value in root:
        place = f'{path}: utterance "{utterance}"'
        strict.text_of(utterance, place)
        if utterance in seen:
            raise InputError(place, "occurs twice")
        seen.add(utterance)
        lists.append(_list(utterance, value, place))
    return strict.check_set(lists, path)


def _list(utterance: str, value: Any, place: str) -> NBest:
    """The list of one utterance from its JSON object."""
    fields = strict.unique(value, place)
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
    return strict.list_of(utterance, hypotheses, strict.reference_of(fields, place), place)
