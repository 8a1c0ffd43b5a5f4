"""Reading YAML as plain data: no objects, no duplicate keys, and a line number for what is broken.

The YAML 1.2 rules are those of DVC, which reads the same file: ``1e-4`` is a number and ``no`` a word.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from quartet.errors import InputError

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
    except (OSError, UnicodeDecodeError) as error:
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
