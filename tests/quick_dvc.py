"""DVC for tests whose stages take no time: dvc.lock is read and written by libyaml.

    python -P tests/quick_dvc.py COMMAND ...

After each stage DVC parses and writes the whole file, with a parser in Python that keeps comments. In such a
`dvc repro` that is four fifths of the time. What the file says is the same, and so is all else that DVC does.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

COMMAND = (sys.executable, "-P", __file__)


def put_first_in_path(folder: Path) -> str:
    """Make a program `dvc` in a folder; returns the PATH of a shell that finds this one, and then the environment's."""
    folder.mkdir()
    program = folder / "dvc"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])


class _Dumper(yaml.CSafeDumper):  # type: ignore[misc]
    """Of mappings and texts of any class, each in full."""

    def ignore_aliases(self, _: object) -> bool:
        return True


_Dumper.add_multi_representer(dict, lambda dumper, data: dumper.represent_dict(data.items()))
_Dumper.add_multi_representer(list, lambda dumper, data: dumper.represent_list(data))
_Dumper.add_multi_representer(str, lambda dumper, data: dumper.represent_str(str(data)))


def _parsed(path: str, fs: Any) -> Any:
    """What a lock file says; None where there is none, or a broken one, of which DVC itself says what is wrong."""
    try:
        with fs.open(path, encoding="utf-8") as file:
            return yaml.load(file.read(), yaml.CSafeLoader)
    except (FileNotFoundError, yaml.YAMLError):
        return None


def install() -> None:
    """Let DVC's class of lock files use libyaml in this process."""
    from dvc import dvcfile

    modify, load = dvcfile.modify_yaml, dvcfile.Lockfile._load_yaml

    @contextmanager
    def modified(path: str, fs: Any) -> Iterator[Any]:
        data = _parsed(path, fs) if dvcfile.is_lock_file(path) else None
        if data is None:
            with modify(path, fs=fs) as data:
                yield data
            return
        yield data
        with fs.open(path, "w", encoding="utf-8") as file:
            yaml.dump(data, file, _Dumper, sort_keys=False, allow_unicode=True)

    def loaded(lock: Any, **options: Any) -> tuple[Any, str]:
        data = None if options else _parsed(lock.path, lock.repo.fs)
        if data is None:
            found: tuple[Any, str] = load(lock, **options)
            return found
        lock.validate(data, lock.relpath)
        return data, ""

    dvcfile.modify_yaml, dvcfile.Lockfile._load_yaml = modified, loaded


if __name__ == "__main__":
    install()
    from dvc.cli import main

    sys.exit(main(sys.argv[1:]))
