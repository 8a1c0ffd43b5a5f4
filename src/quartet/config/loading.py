"""Settings from a file: YAML as plain data, then typed; every mistake is one line that names the key.

The YAML 1.2 rules are those of DVC, which reads the same file: ``1e-4`` is a number and ``no`` a word.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from quartet.errors import InputError, nearest

Settings = TypeVar("Settings")

#: Anchors may repeat parts of a file; a file that unfolds into more values than this is a mistake or an attack.
MOST_VALUES = 100_000
#: Settings of a hundred models have a tenth of this; what is larger takes minutes to read.
MOST_BYTES = 1 << 18
#: Whole numbers from here on fit no array and no seed.
TOO_LARGE = 1 << 63


def read_yaml(path: str | Path) -> dict[str, Any]:
    """The mapping in a YAML file, made of dict, list, str, int, float, bool and None only.

    Raises:
        InputError: the file is absent, too large, is not UTF-8, is not YAML, repeats a key, or holds anything else.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InputError(
                path, f"larger than {MOST_BYTES >> 10} KiB", "these are no settings: give another file"
            )
        text = data.decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(path, "no such file") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}", "not UTF-8 text", "save the file as UTF-8") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error})") from error
    try:
        value = YAML(typ="safe", pure=True).load(text)
    except DuplicateKeyError as error:
        raise InputError(
            _line(path, error), str(error.problem).split(" with value")[0], "keep one of them"
        ) from error
    except MarkedYAMLError as error:
        raise InputError(_line(path, error), f"not valid YAML ({error.problem or error.context})") from error
    except RecursionError as error:
        raise InputError(path, "not usable YAML: its values are nested too deeply") from error
    except (YAMLError, ValueError) as error:
        raise InputError(path, f"not valid YAML ({type(error).__name__}: {error})") from error
    if not isinstance(value, dict):
        raise InputError(path, f"a mapping of keys was expected, not {_kind(value)}")
    _check_plain(value, str(path))
    return value


def _line(path: Path, error: MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{path}:{mark.line + 1}" if mark else str(path)


def _check_plain(value: dict[str, Any], place: str) -> None:
    """Raise InputError for a value that JSON has no word for, or for one that unfolds without end."""
    pending: list[tuple[str, Any]] = [("", value)]
    seen = 0
    while pending:
        where, item = pending.pop()
        seen += 1
        if seen > MOST_VALUES:
            raise InputError(
                place, f"more than {MOST_VALUES:,} values", "look for an anchor that contains itself"
            )
        here = f"{place}: {where}" if where else place
        if isinstance(item, dict):
            for key, inner in item.items():
                if inner is None and isinstance(key, int | float):
                    raise InputError(
                        here,
                        f"{key} stands alone where keys stand",
                        "write numbers without a comma, as 1000 and 1.5e-3",
                    )
                if not isinstance(key, str) or not _is_text(key):
                    raise InputError(
                        here, f"the key {key!r:.40} is {_kind(key)}, not text", "put it in quotes"
                    )
                pending.append((f"{where}.{key}" if where else key, inner))
        elif isinstance(item, list):
            pending.extend((f"{where}[{index}]", inner) for index, inner in enumerate(item))
        elif isinstance(item, float) and not math.isfinite(item):
            raise InputError(here, f"{item} is not a number that can be used")
        elif isinstance(item, int) and abs(item) >= TOO_LARGE:
            raise InputError(here, "too large a number")
        elif isinstance(item, str) and not _is_text(item):
            raise InputError(
                here, "a NUL or half a surrogate pair, which no name or path can hold", "take it out"
            )
        elif not (item is None or isinstance(item, str | bool | int | float)):
            raise InputError(here, f"{_kind(item)} cannot be used here", "put it in quotes to make it text")


def _is_text(value: str) -> bool:
    """Whether a text can be written into a file, and be the name of one."""
    return not any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in value)


def _kind(value: object) -> str:
    names = {
        "NoneType": "nothing",
        "dict": "a mapping",
        "list": "a list",
        "str": "a text",
        "bool": "a truth value",
    }
    name = type(value).__name__
    return names.get(name, f"a value of type {name}")


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
        first, *others = error.errors(include_url=False)
        where = _join(first["loc"])
        reason = {"missing": "missing", "value_error": str(first.get("ctx", {}).get("error", ""))}.get(
            first["type"]
        )
        remedy = ""
        if reason is None:
            reason = "there is no value"
            if first["input"] is not None:
                # of several types that were tried each has said what it expects
                *above, last = first["loc"]
                several = isinstance(last, str) and _is_tag(last)
                own = [
                    first["msg"],
                    *(one["msg"] for one in others if several and [*one["loc"]][:-1] == above),
                ]
                expected = ", or ".join(
                    [own[0], *(text.removeprefix("Input should be ") for text in own[1:])]
                )
                reason = f"{expected}, found {json.dumps(first['input'])[:80]}"
            remedy = _remedy(kind, data, first)
        raise InputError(f"{place}: {where}" if where else place, reason, remedy) from None


def _remedy(kind: Any, data: Mapping[str, Any], error: ErrorDetails) -> str:
    """What to write in the place of a value of the wrong type: of what may be meant, the first that is accepted."""
    found, where = error["input"], error["loc"]
    tries: list[tuple[str, Any]] = []
    if isinstance(found, str):
        tries.append((f"write [{found}]", [found]))
    if found is None:
        tries += [
            ("write [] for none", []),
            ("write {} for none", {}),
            ("write one, or take the key out", None),
        ]
    for words, value in tries:
        if not any(one[: len(where)] == where for one in _mistakes(kind, _replaced(data, where, value))):
            return words
    return "write one" if found is None else ""


def _mistakes(kind: Any, data: Mapping[str, Any]) -> list[tuple[int | str, ...]]:
    """Where a value is refused."""
    try:
        TypeAdapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        return [one["loc"] for one in error.errors(include_url=False)]
    return []


def _replaced(data: Mapping[str, Any], where: Sequence[int | str], value: Any) -> Any:
    """A copy with another value at a place, or, for None, without the key; as it is where there is no such place."""
    whole: Any = copy.deepcopy(data)
    *outer, last = [key for key in where if isinstance(key, int) or not _is_tag(key)]
    inner = whole
    try:
        for key in outer:
            inner = inner[key]
        if value is None:
            del inner[last]
        else:
            inner[last] = value
    except (KeyError, IndexError, TypeError):
        return data
    return whole


def _join(location: Iterable[int | str]) -> str:
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not _is_tag(part):
            text += f".{part}" if text else part
    return text


def _is_tag(part: str) -> bool:
    """Whether it is no key, but says which of several types was tried."""
    return part.startswith(("[", "literal["))


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
