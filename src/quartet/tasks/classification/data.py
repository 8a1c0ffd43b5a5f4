"""Texts with their classes, in fastText's form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.tasks.set_files import SetKind, western_lines

LABEL_PREFIX = "__label__"


@dataclass(frozen=True)
class LabelledText:
    """A text and its class."""

    text: str
    label: str


def read_labelled(path: str | Path) -> list[LabelledText]:
    """Labelled sentences, one a line: ``__label__pos the text`` (fastText's form), in UTF-8 or Windows-1252.

    Raises:
        InputError: the file is missing, a line has no label or no text, or there are not two labels at least.
    """
    examples = []
    for place, line in western_lines(Path(path)):
        head, text = (*line.strip().split(maxsplit=1), "", "")[:2]
        if not head.startswith(LABEL_PREFIX) or head == LABEL_PREFIX:
            raise InputError(place, f'a line "{LABEL_PREFIX}<label> <text>" was expected')
        if not text.strip():
            raise InputError(place, "the label has no text")
        if text.startswith(LABEL_PREFIX):
            raise InputError(
                place, "has two labels, and a text is of one class", "leave one, or take the line out"
            )
        examples.append(LabelledText(text.strip(), head.removeprefix(LABEL_PREFIX)))
    if len({example.label for example in examples}) < 2:
        raise InputError(path, "fewer than two different labels")
    return examples


KIND = SetKind("classification", roles=("texts",), read=read_labelled)
