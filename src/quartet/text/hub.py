"""Data sets in the shape of those on Hugging Face's hub, read by `datasets` as a stream: no row stays in memory.

A folder of Parquet, JSON or CSV files; the names of its files, or its README.md, say which split they are of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quartet.errors import InputError
from quartet.files import files_below
from quartet.text.documents import Draft
from quartet.text.plain import TextPart, lines_of, parts_of_lines
from quartet.text.wikitext_corpus import articles

if TYPE_CHECKING:
    from quartet.config.text import HubConfig

BATCH_ROWS = 1000
"""Rows that `datasets` gives at once."""

OUR_NAMES = {"validation": "valid"}
"""Of the splits that `datasets` calls otherwise."""

_REMEDY = "give a folder of Parquet, JSON or CSV files as a data set on the hub has them"


@dataclass(frozen=True)
class HubReader:
    """A reader in the sense of `quartet.text.sources`, of rows as `settings` says."""

    settings: HubConfig

    def __call__(self, path: Path) -> Iterator[Draft]:
        """Stream the drafts of a folder or file; ids are ``<split>/<id>``.

        Raises:
            InputError: it holds no such data set, split or column, or is damaged; or a row has no text.
        """
        for split, rows in self._splits(path):
            found = self._values(path, split, rows)
            if self.settings.rows == "documents":
                for number, (text, title, key) in enumerate(found, start=1):
                    yield TextPart(f"{split}/{key or number}", title or f"{split} {number}", text)
            else:
                lines = (text for text, _, _ in found)
                if self.settings.rows == "wikitext":
                    yield from articles(lines, split, f"{path}, {split}")
                else:
                    yield from parts_of_lines(lines, f"{split}/{path.name}")

    def _splits(self, path: Path) -> Iterator[tuple[str, Any]]:
        """Our name of each split that is read, and its `datasets.IterableDataset`."""
        if not path.exists():
            raise InputError(path, "no such file or folder", _REMEDY)
        from datasets import load_dataset_builder

        try:
            folder, files = (path, None) if path.is_dir() else (path.parent, path.name)
            # a folder that is there, never a name on the hub
            builder = load_dataset_builder(str(folder), self.settings.config, data_files=files)  # nosec B615
            found = builder.as_streaming_dataset()
        except Exception as error:  # its own and those of all the libraries below it
            raise _unreadable(path, error) from error
        if path.is_dir() and self.settings.config is None and not _has_card(path):
            _check_all_read(path, builder.config.data_files)
        if self.settings.splits is None:
            wanted = {OUR_NAMES.get(name, name): name for name in found}
        else:
            wanted = {
                ours: self.settings.splits[ours]
                for ours in ("train", "valid", "test")
                if ours in self.settings.splits
            }
        for theirs in wanted.values():
            if theirs not in found:
                raise InputError(path, f"has no split {theirs!r}", f"its splits are {', '.join(found)}")
        for ours, theirs in wanted.items():
            yield ours, found[theirs]

    def _values(self, path: Path, split: str, rows: Any) -> Iterator[tuple[str, str, str]]:
        """The text, title and id of each row, the last two empty where no column is named."""
        columns = [self.settings.text, self.settings.title, self.settings.id]
        number = 0
        for batch in _batches(path, rows):
            for name in columns:
                if name is not None and name not in batch:
                    raise InputError(path, f"has no column {name!r}", f"its columns are {', '.join(batch)}")
            size = len(batch[self.settings.text])
            values = [batch[name] if name is not None else [""] * size for name in columns]
            for text, title, key in zip(*values, strict=True):
                number += 1
                if not isinstance(text, str) or title is None or key is None:
                    raise InputError(f"{path}, {split}, row {number:,}", "a text, title or id is missing")
                yield text, str(title), str(key)


def _has_card(folder: Path) -> bool:
    """Whether a README.md says by itself which files are read."""
    card = folder / "README.md"
    return card.is_file() and any(line.startswith("configs:") for line in lines_of(card))


def _check_all_read(folder: Path, read: Mapping[str, Iterable[str]]) -> None:
    """Raise InputError where files of data are of no split or of two: the library chooses by their names."""
    from datasets.data_files import FILES_TO_IGNORE

    chosen = Counter(str(Path(file).resolve()) for files in read.values() for file in set(files))
    remedy = "name each train-1, train-2, ..., validation-1 or test-1 with its ending, or move them away"
    if twice := [Path(file).name for file, times in chosen.items() if times > 1]:
        reason = f"{len(twice)} files are of two splits, by their names: {', '.join(twice):.200}"
        raise InputError(folder, reason, remedy)
    left = [
        file.relative_to(folder)
        for file in files_below(folder)
        if {".parquet", ".json", ".jsonl", ".csv", ".tsv"} & set(file.suffixes)
        if file.name not in FILES_TO_IGNORE and str(file.resolve()) not in chosen
        if not any(part.startswith((".", "__")) for part in file.relative_to(folder).parts)
    ]
    if left:
        raise InputError(
            folder,
            f"{len(left)} files are of no split, by the names of the others: {', '.join(map(str, left)):.200}",
            remedy,
        )


def _batches(path: Path, rows: Any) -> Iterator[dict[str, list[Any]]]:
    """The columns of some rows at a time."""
    try:
        yield from rows.iter(batch_size=BATCH_ROWS)
    except Exception as error:  # of the library that reads this format
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> InputError:
    said = str(error.__cause__ or error).strip().splitlines() or [type(error).__name__]
    return InputError(path, f"cannot be read as a data set ({said[0]})", _REMEDY)
