"""What a format of evaluation sets is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

Example = TypeVar("Example")


@dataclass(frozen=True)
class Format(Generic[Example]):
    """How one published set is written.

    Attributes:
        read: the examples of a file (or a folder, where the set is published as one) in their order; the suffix tells
            the well-known text form from the hub's ``.parquet``. It raises InputError with the file and the line.
        splits: the roles that ``files:`` may have, e.g. ("train", "dev", "test"); () where each role is a sub-task.
        obtain: where the set is to be had, in one line, for the report of somebody who does not have it.
        unlabelled: how many items of a file `read` passes over because nobody judged them; None: it never does.
    """

    read: Callable[[Path], Iterator[Example]]
    splits: tuple[str, ...]
    obtain: str
    unlabelled: Callable[[Path], int] | None = None
