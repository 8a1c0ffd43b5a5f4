"""Texts with their classes, in fastText's form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.tasks.set_files import SetKind, text_lines

LABEL_PREFIX = "__label__"


@dataclass(frozen=True)
class LabelledText:
    """A text and its class."""

    text: str
    label: str


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


KIND = SetKind("classification", roles=("texts",), read=read_labelled)
