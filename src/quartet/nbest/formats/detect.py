"""The format of a file of N-best lists by its content, for those who did not name it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.nbest.formats import kaldi, moses, nemo, strict, text_file

#: Lines that are looked at; a format fits where it fits most of them.
LINES = 1000


def fitting_formats(path: Path) -> list[str]:
    """The names of the formats that the content of a file fits.

    Raises:
        InputError: it cannot be read, is no UTF-8, holds a NUL, or begins as JSON and is none.
    """
    text = text_file.read_text(path)
    if "\0" in text:
        raise next(line for _, line in text_file.lines(path, closed=False) if isinstance(line, InputError))
    if text.lstrip().startswith(("{", "[")):
        return _of_json(text, path)
    lines = [line for line in text.split("\n") if line.strip(text_file.BLANK)][:LINES]
    return [name for name, fits in OF_LINES.items() if 2 * sum(map(fits, lines)) > len(lines)]


def _of_json(text: str, path: Path) -> list[str]:
    first = text.lstrip().partition("\n")[0]
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):  # the file is one value over several lines, or broken
        line = None
    if isinstance(line, dict) and (
        isinstance(line.get("utt"), str) or isinstance(line.get("hypotheses"), list)
    ):
        return ["jsonl"]
    if isinstance(line, dict) and isinstance(line.get("input"), list):
        return ["hyporadise"]
    root = strict.parse(text, path)
    if not isinstance(root, strict.JsonFields):
        return ["hyporadise"] if any("input" in _keys(each) for each in root) else []
    found = []
    if any("output" in _keys(each) for name, utts in root if name == "utts" for each in _values(utts)):
        found.append("espnet")
    if any(key.startswith("hyp") for _, each in root for key in _keys(each)):
        found.append("mlm-scoring")
    return found


def _keys(value: Any) -> list[str]:
    return [key for key, _ in value] if isinstance(value, strict.JsonFields) else []


def _values(value: Any) -> list[Any]:
    return [each for _, each in value] if isinstance(value, strict.JsonFields) else []


#: Whether a line is one of a format.
OF_LINES: dict[str, Callable[[str], bool]] = {
    "kaldi": lambda line: kaldi.KEY.fullmatch(kaldi.BLANKS.split(line, maxsplit=1)[0]) is not None,
    "moses": moses.begins,
    "nemo": nemo.is_scored,
}
