"""Plain data -> typed settings, where every mistake becomes one line that names the key."""

from __future__ import annotations

import dataclasses
import difflib
import json
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from quartet.errors import InputError

Settings = TypeVar("Settings")


def nearest(word: str, known: Iterable[str], what: str) -> str:
    """A remedy: the known word most like `word`, else all of them.

    >>> nearest("layerz", ["layers", "dim"], "key")
    "the nearest known key is 'layers'"
    """
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"the nearest known {what} is {close[0]!r}"
    several = {"corpus": "corpora"}.get(what, f"{what}s")
    return f"the known {several} are {', '.join(known)}" if known else f"there is no {what} yet"


def checked(kind: type[Settings], data: Mapping[str, Any], place: str) -> Settings:
    """`data` as an object of the pydantic dataclass `kind`; a number in quotes is no number, 1.0 is no whole number.

    Raises:
        InputError: the first mistake: an unknown key, a missing one, a wrong type or value, an impossible combination.
    """
    _refuse_unknown(kind, data, place, "")
    try:
        # JSON in strict mode takes lists for tuples but no text for numbers.
        return TypeAdapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = _join(first["loc"])
        reason = {"missing": "missing", "value_error": str(first.get("ctx", {}).get("error", ""))}.get(
            first["type"]
        )
        remedy = ""
        if reason is None:
            reason, remedy = _expected(first["type"], first["msg"], first["input"])
        raise InputError(f"{place}: {where}" if where else place, reason, remedy) from None


#: pydantic's errors of what is no list and no mapping -> what is one that holds nothing.
EMPTY = {
    **dict.fromkeys(("list_type", "tuple_type"), "[]"),
    **dict.fromkeys(("dict_type", "model_type"), "{}"),
}


def _expected(kind: str, message: str, found: object) -> tuple[str, str]:
    """(reason, remedy) of a value of the wrong type; a key without a value is the most frequent one."""
    empty = EMPTY.get(kind, "")
    if found is None:
        return "there is no value", f"write {empty} for none" if empty else "write one, or take the key out"
    remedy = f"write [{found}]" if empty == "[]" and isinstance(found, str) else ""
    return f"{message}, found {json.dumps(found)[:80]}", remedy


def _join(location: Iterable[int | str]) -> str:
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not part.startswith(("[", "literal[")):  # a key itself, or which of several types was tried
            text += f".{part}" if text else part
    return text


def _refuse_unknown(kind: Any, value: Any, place: str, where: str) -> None:
    """Raise InputError for the first key that no field has; wrong types are left to pydantic."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        _refuse_unknown(arguments[0], value, place, where)
    elif origin in (types.UnionType, typing.Union):
        for option in arguments:
            _refuse_unknown(option, value, place, where)
    elif origin is dict and isinstance(value, dict):
        for key, inner in value.items():
            _refuse_unknown(arguments[1], inner, place, _join([where, key]) if where else key)
    elif origin in (list, tuple) and isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_unknown(arguments[0], inner, place, f"{where}[{index}]")
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints = typing.get_type_hints(kind, include_extras=True)
        known = [field.name for field in dataclasses.fields(kind)]
        for key, inner in value.items():
            inside = f"{where}.{key}" if where else key
            if key not in known:
                raise InputError(f"{place}: {inside}", "unknown key", nearest(key, known, "key"))
            _refuse_unknown(hints[key], inner, place, inside)
