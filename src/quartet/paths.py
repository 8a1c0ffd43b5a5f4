"""Every path of a command, looked at before the command does anything."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from quartet.errors import InputError
from quartet.user_files import GIVE_ONE, descriptor, is_stream

#: Files of a model that lies in a folder, whichever kind it is of.
MODEL_FILES = (
    *("config.json", "manifest.json", "export.json", "tokenizer*.json", "special_tokens_map.json"),
    *("bpe.codes", "dict.txt", "emoji.json", "entity_vocab.json", "word_*.json"),
    *("added_tokens.json", "vocab.*", "merges.txt", "*.spm", "*.model", "*.safetensors", "*.bin", "*.onnx"),
    *("*.safetensors.index.json", "*.bin.index.json", "*.arpa", "*.arpa.gz"),
)
#: Every column of a database, by its table.
COLUMNS = (
    "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
)
ELSEWHERE = "write somewhere else"
#: How names of files end that other programs unpack.
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")

#: The option or argument, and the path that it names; None: it is not given.
NamedPath = tuple[str, Path | None]


def check_paths(
    inputs: Iterable[NamedPath] = (),
    outputs: Iterable[NamedPath] = (),
    cache: Path | None = None,
    model: str | Path | None = None,
    folder: NamedPath = ("", None),
) -> None:
    """Raise where something cannot be read or written, or would be overwritten.

    Args:
        inputs, outputs: files.
        cache: a file of scores, see `quartet.scoring.cache`.
        model: a folder or a file of a model; what is neither is on a hub.
        folder: one to write.

    Raises:
        InputError: a file cannot be read; an output, the cache or the folder cannot be written, or is one of the files
            that are read or written beside; a pipe would be read twice; the cache holds something else.
    """
    taken: dict[object, str] = {}
    for option, path in inputs:
        if path is not None:
            key = _readable(path, option)
            if is_stream(path) and key in taken:
                raise InputError(option, f"{path} can be read but once", "name a file")
            taken[key] = "one of the files to read"
    taken |= {_key(path, "--model"): "one of the model's files" for path in _files_of(model)}
    for option, path in [*outputs, ("--cache", cache)]:
        if path is not None:
            key = _writable(path, option)
            if path.suffix.lower() in PACKED:
                reason = f"{path} is the name of a packed file, and what is written is plain"
                raise InputError(option, reason, f"name {path.with_suffix('')}, and pack it then")
            if key is not None and key in taken:
                raise InputError(option, f"{path} is {taken[key]}", ELSEWHERE)
            taken[key] = f"that of {option}"
    if cache is not None:
        _check_cache(cache)
    option, path = folder
    if path is not None:
        _check_folder(path, option)


def _key(path: Path, option: str) -> object:
    """The same for two paths of one file; None for a device, which takes what anyone writes."""
    number = descriptor(path)
    found = _status(path, option) if number is None else _open_status(number, path, option)
    if found is None:
        return os.path.realpath(path)
    if stat.S_ISCHR(found.st_mode):
        return number
    return found.st_dev, found.st_ino


def _status(path: Path, option: str) -> os.stat_result | None:
    """What the system says of the file behind a path; None where there is none yet."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # below a file, too long, links in a circle, a NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{option} {path}", f"is no path ({reason})", "name another") from error


def _open_status(number: int, path: Path, option: str) -> os.stat_result:
    if (number == 0 and sys.stdin is None) or (number == 1 and sys.stdout is None):
        raise InputError(option, f"{path} is closed", GIVE_ONE)
    try:
        return os.fstat(number)
    except OSError as error:
        raise InputError(option, f"{path} is no open file", "name a file") from error


def _readable(path: Path, option: str) -> object:
    """The key of a file that can be read."""
    if descriptor(path) is None:
        found = _status(path, option)
        if found is None:
            raise InputError(path, f"no such file ({option})")
        if stat.S_ISDIR(found.st_mode):
            raise InputError(path, f"is a folder ({option})", "name a file")
        if not os.access(path, os.R_OK):
            raise InputError(
                path, f"cannot be read ({option})", "check the rights of the file and its folder"
            )
    return _key(path, option)


def _writable(path: Path, option: str) -> object:
    """The key of a file that can be written, or made."""
    if descriptor(path) is None:
        found = _status(path, option)
        if found is None or stat.S_ISREG(found.st_mode):
            _check_parents(Path(os.path.realpath(path)), option)
        elif stat.S_ISDIR(found.st_mode):
            raise InputError(option, f"{path} is a folder", "name a file in it")
        elif not (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)):
            raise InputError(option, f"{path} is a disk or a socket", "name a file")
        if found is not None and not os.access(path, os.W_OK):
            raise InputError(option, f"{path} cannot be written", "check its rights, or write somewhere else")
    return _key(path, option)


def _check_parents(path: Path, option: str) -> None:
    """Raise where a file or folder cannot be made in the first folder above it that is there."""
    above = next(each for each in path.parents if each.exists())
    if not above.is_dir():
        raise InputError(option, f"{path} cannot be written ({above} is a file)", ELSEWHERE)
    if not os.access(above, os.W_OK | os.X_OK):
        raise InputError(option, f"{path} cannot be written ({above} is not yours to write in)", ELSEWHERE)


def _check_folder(path: Path, option: str) -> None:
    if str(path) == "-" or is_stream(path):
        raise InputError(option, f"{path} is no folder", "name one that is to be written")
    found = _status(path, option)
    if found is not None and not stat.S_ISDIR(found.st_mode):
        raise InputError(option, f"{path} is a file", "name a folder that is to be written")
    whole = Path(os.path.realpath(path))
    if os.path.ismount(whole) or whole == Path.cwd():
        reason = "is a disk's own folder" if os.path.ismount(whole) else "is the folder that you are in"
        raise InputError(option, f"{path} {reason}, which cannot be replaced", "name a folder in it")
    _check_parents(whole, option)


def _check_cache(path: Path) -> None:
    if str(path) == "-" or is_stream(path):
        raise InputError("--cache", f"{path} is no file that can be read and written", "name one")
    if not path.exists() or not path.stat().st_size:
        return
    if not _holds_scores(path):
        raise InputError("--cache", f"{path} is no file of scores", "name another: it stays as it is")


def _holds_scores(path: Path) -> bool:
    """Whether a file is a database of scores, or a new one."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            columns = database.execute(COLUMNS).fetchall()
    except sqlite3.OperationalError:  # locked, or in a folder that is read-only: whoever opens it says so
        return True
    except sqlite3.DatabaseError:
        return False
    return columns in ([], [("scores", "key"), ("scores", "logprobs")])


def _files_of(model: str | Path | None) -> list[Path]:
    """The files that a model is made of, where it is not on a hub."""
    path = None if model is None else Path(model)
    if path is None or not path.is_dir():
        return [] if path is None or not path.is_file() else [path]
    return [each for pattern in MODEL_FILES for each in path.glob(pattern) if each.is_file()]
