"""Files that are either whole or absent: written beside their place and moved there when complete; and locks."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from quartet.errors import InputError, first_mistake, system_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: How the names of unfinished files and folders begin; .dvcignore leaves them out.
TEMPORARY = ".unfinished-"
#: How the names of the files end that stand for locks where the system cannot lock a file that is also replaced.
LOCK: Final = ".held"
#: Of what manifests and cards say; a reader refuses those of another one.
MANIFEST_VERSION: Final = 1

Card = TypeVar("Card")


def _open_mode(path: Path) -> None:
    """Give a temporary file or folder the permissions that an ordinary one would have had."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; move it onto `path` on success, remove it on failure.

    What a killed process left of the same file is removed first.

    Raises:
        InputError: the file cannot be written (the disk is full, the folder read-only).
    """
    path = Path(path)
    with _opened(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f"{TEMPORARY}{path.name}.", suffix=path.suffix, dir=path.parent
        )
    os.close(handle)
    temporary = Path(name)
    try:
        with hold_lock(temporary), _written(path, temporary):
            _sweep(path)
            yield temporary
            _open_mode(temporary)
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def atomic_dir(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; put it in the place of `path` on success, remove it on failure.

    What a killed process left of the same folder is removed first.

    Raises:
        InputError: the folder cannot be written (the disk is full, its parent read-only).
    """
    path = Path(path)
    with _opened(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}{path.name}.", dir=path.parent))
    old = temporary.with_name(f"{temporary.name}.old")
    try:
        with hold_lock(temporary), _written(path, temporary):
            _sweep(path)
            yield temporary
            _open_mode(temporary)
            if path.is_dir():
                path.rename(old)  # a folder that is being removed is not whole
            temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _opened(path: Path) -> Iterator[None]:
    """Say of any error that `path` cannot be written."""
    try:
        yield
    except OSError as error:
        known = system_error(error)
        remedy = known.remedy if known else "check the folder's rights"
        raise InputError(path, f"cannot be written ({error.strerror})", remedy) from error


@contextmanager
def _written(path: Path, temporary: Path) -> Iterator[None]:
    """Name `path` where the disk is full, instead of the temporary file, another library's words or nothing."""
    try:
        yield
    except Exception as error:
        named = error.filename if isinstance(error, OSError) else None
        if named is not None and not Path(os.fsdecode(named)).is_relative_to(temporary):
            raise  # of another file
        known = None if isinstance(error, InputError) else system_error(error, path)
        if known is None:
            raise
        raise InputError(path, f"cannot be written ({known.reason})", known.remedy) from error


def _sweep(path: Path) -> None:
    """Remove what killed writers of `path` left: temporary files and folders that nobody holds a lock on."""
    for entry in os.scandir(path.parent):
        if not entry.name.startswith(f"{TEMPORARY}{path.name}.") or entry.name.endswith(LOCK):
            continue
        with suppress(OSError), hold_lock(Path(entry.path)) as free:
            if not free:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                Path(entry.path).unlink()


def keep_only(kept: Collection[Path]) -> None:
    """Delete what lies beside these files and folders: what was kept for settings that are no longer asked for."""
    for folder in {path.parent for path in kept}:
        for other in folder.iterdir():
            if other not in kept:
                if other.is_dir():
                    shutil.rmtree(other)
                else:
                    other.unlink()


def files_below(folder: str | Path) -> list[Path]:
    """Every file in a folder and in those below it, linked ones too, sorted.

    Raises:
        InputError: one of the folders cannot be read, or a link leads back to a folder that it is in.
    """

    def refuse(error: OSError) -> None:
        raise InputError(
            error.filename, f"cannot be read ({error.strerror})", "check the folder's rights"
        ) from error

    found = []
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        here = Path(place).absolute()
        for name in folders:
            link = Path(place, name)
            if link.is_symlink() and any(link.samefile(above) for above in (here, *here.parents)):
                raise InputError(
                    link, "is a link to a folder that it is in", "take the link out of the folder"
                )
        found += [path for path in (Path(place, name) for name in names) if path.is_file()]
    return sorted(found)


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes in hexadecimal, read in blocks."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of a JSON-lines file; blank lines are skipped.

    Raises:
        InputError: the file is absent, is not UTF-8, or a line is not one JSON object.
    """
    return parse_jsonl(numbered_lines(path), path)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, bytes) of every line of a file.

    Raises:
        InputError: the file is absent.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(path, "no such file")
    with open(path, "rb") as file:
        yield from enumerate(file, start=1)


def parse_jsonl(lines: Iterable[tuple[int, bytes]], path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """As `read_jsonl`, of some `numbered_lines` of the file at `path`."""
    for number, raw in lines:
        if not raw.strip():
            continue
        try:
            row = _json(raw.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}", f"not a line of JSON ({error})") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}", f"a JSON object was expected, not {type(row).__name__}")
        yield number, row


def write_jsonl(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line with sorted keys, atomically.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(map(json_line, rows))


def json_line(row: Mapping[str, Any]) -> str:
    """A line of JSON with sorted keys; NaN and infinities are refused with ValueError."""
    return json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: str | Path) -> Any:
    """The value in a JSON file.

    Raises:
        InputError: the file is absent or is not valid JSON.
    """
    path = Path(path)
    try:
        return _json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(path, "no such file") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"not valid JSON ({error})") from error


def read_card(kind: type[Card], path: Path, remedy: str) -> Card:
    """What a JSON file says of the files beside it, as a dataclass all of whose fields it must have.

    Args:
        remedy: what to do where it is broken.

    Raises:
        InputError: the file is absent or broken.
    """
    from pydantic import TypeAdapter, ValidationError

    content = read_json(path)
    names = [field.name for field in dataclasses.fields(kind)] if isinstance(content, dict) else []  # type: ignore[arg-type]  # a dataclass
    absent = [name for name in names if name not in content]
    if absent:  # also what a card in memory may do without
        raise InputError(f"{path}: {absent[0]}", "Field required", remedy)
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        key, reason = first_mistake(error)
        raise InputError(f"{path}: {key}", reason, remedy) from error


def _json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON, has a number of thousands of digits, or half a surrogate pair, which is no text.
        RecursionError: it is nested too deeply.
    """
    value = json.loads(text)
    if "\\ud" in text or "\\uD" in text:  # the only way to write half a pair
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a text holds half a surrogate pair") from None
    return value


def write_json(path: str | Path, value: Any) -> None:
    """Write one JSON value, indented, with sorted keys, atomically; NaN is refused with ValueError."""
    with atomic_path(path) as temporary:
        text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


@contextmanager
def hold_lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a file or folder; whether it could be had. The lock of a process that ends is free.

    Where there is no ``fcntl``, the lock is a file beside it, of the package `filelock`, which knows each system's way.

    Raises:
        OSError: there is no such file.
    """
    if fcntl is None:
        with _held_beside(path) as had:
            yield had
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        yield _locked(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # someone else has it, or a file system without locks
        return False
    return True


@contextmanager
def _held_beside(path: Path) -> Iterator[bool]:
    import filelock

    lock = filelock.FileLock(f"{path}{LOCK}")
    try:
        lock.acquire(blocking=False)
    except (filelock.Timeout, OSError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
