"""JSON read without forgiveness: repeated keys, wrong types and NaN are all refused by name."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from quartet.arguments import check_unicode
from quartet.errors import InputError
from quartet.nbest.types import Hypothesis, NBest


class JsonFields(list[tuple[str, Any]]):
    """A JSON object as its (key, value) pairs: unlike a dict it still shows a key that occurs twice."""


def parse(text: str, path: str | Path, line: int | None = None) -> Any:
    """The value of a JSON text, objects as `JsonFields`.

    Args:
        text: the whole JSON text.
        path: where it is from, for the message.
        line: the line of the file that `text` is (JSON lines); None where `text` is the whole file.

    Raises:
        InputError: the syntax is wrong, with line and column.
    """
    try:
        return json.loads(text, object_pairs_hook=JsonFields)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno if line is None else line}:{error.colno}"
        lines = line is None and error.msg == "Extra data"
        remedy = "a file with one object a line is of the format jsonl or hyporadise" if lines else ""
        raise InputError(where, f"not valid JSON ({error.msg})", remedy) from error
    except (ValueError, RecursionError) as error:  # thousands of digits, thousands of open brackets
        raise InputError(path if line is None else f"{path}:{line}", f"not usable JSON ({error})") from error


def unique(value: Any, place: str) -> dict[str, Any]:
    """A JSON object as a dict.

    Raises:
        InputError: it is no object, or a key occurs twice.
    """
    if not isinstance(value, JsonFields):
        raise InputError(place, f"an object was expected, not {kind(value)}")
    found: dict[str, Any] = {}
    for key, item in value:
        if key in found:
            raise InputError(place, f'the key "{key}" occurs twice')
        found[key] = item
    return found


def text_of(value: Any, place: str) -> str:
    """A JSON string.

    Raises:
        InputError: it is none, or holds a NUL or half of a surrogate pair (which no file of text could hold again).
    """
    if not isinstance(value, str):
        raise InputError(place, f"a text was expected, not {kind(value)}")
    if "\0" in value:
        raise InputError(place, f"the text has a NUL at character {value.index(chr(0)) + 1}")
    check_unicode(value, place)
    return value


def score_of(value: Any, place: str) -> float:
    """A finite JSON number.

    Raises:
        InputError: it is no number (true and null are none either), or NaN or infinite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(place, f"a number was expected as the score, not {kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(place, f"the score is {number}, a finite number was expected")
    return number


def elements(value: Any, place: str) -> list[Any]:
    """A JSON list.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, list) or isinstance(value, JsonFields):
        raise InputError(place, f"a list was expected, not {kind(value)}")
    return value


def hypothesis_of(fields: dict[str, Any], place: str) -> Hypothesis:
    """The hypothesis in an object with "text" and, where the first pass gave one, "score".

    Raises:
        InputError: the text is missing, or either has the wrong type.
    """
    if "text" not in fields:
        raise InputError(place, 'has no "text"')
    text = text_of(fields["text"], f"{place}, text")
    return Hypothesis(text, score_of(fields["score"], f"{place}, score") if "score" in fields else None)


def reference_of(fields: dict[str, Any], place: str, key: str = "ref") -> str | None:
    """The reference under a key; None where the key is absent or null."""
    reference = fields.get(key)
    return None if reference is None else text_of(reference, f"{place}, {key}")


def list_of(utterance: str, hypotheses: list[Hypothesis], reference: str | None, place: str) -> NBest:
    """One list.

    Raises:
        InputError: it has no hypothesis, or only some of them have a score.
    """
    if not hypotheses:
        raise InputError(place, "has no hypothesis", 'give it one with the text "" where nothing was found')
    unscored = [index for index, hypothesis in enumerate(hypotheses, start=1) if hypothesis.score is None]
    if unscored and len(unscored) < len(hypotheses):
        raise InputError(place, f"hypothesis {unscored[0]} has no score and others have one")
    return NBest(utterance, tuple(hypotheses), reference)


def kind(value: Any) -> str:
    """What a JSON value is, in JSON's words."""
    if isinstance(value, JsonFields):
        return "an object"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {str: "a text", int: "a number", float: "a number", list: "a list", type(None): "null"}
    return names[type(value)]
