"""BLiMP (Warstadt et al. 2020): pairs of sentences of which one is English and the other, almost the same, is not."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.files import files_below
from quartet.tasks.set_files import (
    LARGEST,
    SetFormat,
    SetKind,
    decoded_lines,
    json_objects,
    json_rows,
    parquet_rows,
    text_of,
)

#: What the files call otherwise than the paper's tables, or in two ways.
RENAMED = {"s-selection": "argument_structure", "syntax/semantics": "syntax_semantics"}

_COLUMNS = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID")
#: The number of a pair in its paradigm: in the official files, and on the hub.
_NUMBERS = ("pairID", "pair_id")
_HELD = (".jsonl", ".parquet")


@dataclass(frozen=True)
class MinimalPair:
    """A good and a bad sentence. Seven official pairs hold the same sentence twice.

    Attributes:
        paradigm: one of 67, e.g. ``adjunct_island``.
        phenomenon: what it belongs to, e.g. ``island_effects``.
        field: of linguistics: morphology, syntax, semantics or syntax_semantics.
    """

    good: str
    bad: str
    paradigm: str
    phenomenon: str
    field: str


def read_blimp(path: Path) -> Iterator[MinimalPair]:
    """Yield the pairs of the official zip, of a folder of ``.jsonl`` or ``.parquet`` files, or of one such file.

    The files of a zip or folder come in the order of their names; those of its maker's system (``__MACOSX``, names that
    begin with a dot) are no part of it.

    Raises:
        InputError: a file is malformed, a pair's number occurs again in its paradigm, or there is no pair.
    """
    seen: set[tuple[str, str]] = set()
    for place, row in _rows(path):
        number = next((str(row[name]) for name in _NUMBERS if name in row), None)
        if number is None:
            raise InputError(place, f"no column {_NUMBERS[0]}")
        paradigm = text_of(row, "UID", place)
        if (paradigm, number) in seen:
            raise InputError(place, f"the pair {number} of {paradigm} is there already")
        seen.add((paradigm, number))
        phenomenon, field = (text_of(row, name, place) for name in ("linguistics_term", "field"))
        yield MinimalPair(
            text_of(row, "sentence_good", place),
            text_of(row, "sentence_bad", place),
            paradigm,
            RENAMED.get(phenomenon, phenomenon),
            RENAMED.get(field, field),
        )
    if not seen:
        raise InputError(path, "holds no pair", "name the official zip, or a folder with its .jsonl files")


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.is_dir():
        files = [file for file in files_below(path) if file.suffix in _HELD]
        for file in sorted(files, key=lambda file: file.relative_to(path).as_posix()):
            if _belongs(file.relative_to(path).as_posix()):
                yield from _rows(file)
    elif path.suffix == ".zip":
        yield from _zipped(path)
    elif path.suffix == ".parquet":
        yield from parquet_rows(path, _COLUMNS)
    else:
        yield from json_rows(path, _COLUMNS)


def _zipped(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                one
                for one in archive.infolist()
                if one.filename.endswith(".jsonl") and _belongs(one.filename)
            ]
            if sum(one.file_size for one in members) > LARGEST:  # no member gives more than it says
                raise InputError(path, f"unpacks to more than {LARGEST >> 30} GiB")
            for one in sorted(members, key=lambda one: one.filename):
                with archive.open(one) as file:
                    yield from json_objects(decoded_lines(file, f"{path}/{one.filename}"), _COLUMNS)
    # RuntimeError: a member is encrypted; NotImplementedError, one of them: packed in a way that Python cannot read
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise InputError(path, f"not a zip file that can be read ({error})") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})") from error


def _belongs(name: str) -> bool:
    """Whether a file, by its path in a zip or folder, is part of the set."""
    parts = name.split("/")
    return "__MACOSX" not in parts and not any(part.startswith(".") for part in parts)


FORMATS: dict[str, SetFormat[MinimalPair]] = {
    "blimp": SetFormat(
        read_blimp,
        (),
        "github.com/alexwarstadt/blimp (BLiMP.zip), or nyu-mll/blimp on the Hugging Face hub, by paradigm",
    ),
}

KIND = SetKind("blimp", FORMATS)
