"""Token ids on disk with sentence, paragraph and document boundaries: a memory-mapped view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, read_json, sha256

if TYPE_CHECKING:
    from quartet.text.tokenizer import TextTokenizer

Ids: TypeAlias = NDArray[np.uint16] | NDArray[np.int32]


class JoinedIds:
    """The ids of several record batches as one sequence, each left where it lies: on disk, mapped.

    A slice within one batch is a view; documents are never in two (see `encoding`). Of another slice, and of the whole
    where an array is asked for, a copy is made.
    """

    def __init__(self, parts: Sequence[Ids]) -> None:
        self._parts = parts
        self._stops = np.cumsum([len(part) for part in parts], dtype=np.int64)
        self.dtype = parts[0].dtype

    def __len__(self) -> int:
        return int(self._stops[-1])

    def __getitem__(self, places: slice) -> NDArray[Any]:
        """The ids from one place to another, one after the other."""
        start, stop, step = places.indices(len(self))
        assert step == 1
        first = int(np.searchsorted(self._stops, start, side="right"))
        found: list[NDArray[Any]] = []
        for part, end in zip(self._parts[first:], self._stops[first:].tolist(), strict=True):
            begin = end - len(part)
            if begin >= stop:
                break
            found.append(part[max(0, start - begin) : stop - begin])
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.empty(0, dtype=self.dtype)

    def take(self, places_N: NDArray[np.int64]) -> NDArray[Any]:
        """The ids at any places, (N,), as ``numpy.ndarray.take``."""
        found = np.empty(len(places_N), dtype=self.dtype)
        part_N = np.searchsorted(self._stops, places_N, side="right")
        for number in np.unique(part_N).tolist():
            part, here_N = self._parts[number], part_N == number
            found[here_N] = part[places_N[here_N] - (int(self._stops[number]) - len(part))]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.concatenate(self._parts).astype(dtype or self.dtype, copy=False)

    def min(self) -> int:
        """The smallest id."""
        return min(int(part.min()) for part in self._parts)

    def max(self) -> int:
        """The largest id."""
        return max(int(part.max()) for part in self._parts)


def split_manifest(folder: Path, split: str) -> Path:
    """What says of one split what it was made from and what it holds."""
    return folder / f"{split}.json"


COLUMNS: dict[str, tuple[pa.DataType, ...]] = {
    "ids": (pa.uint16(), pa.int32()),
    "sentence_lengths": (pa.int32(),),
    "sentence_paragraphs": (pa.int32(),),
    "sentence_words": (pa.int32(),),
    "sentence_headings": (pa.bool_(),),
}
"""The columns of lists, and what the lists may hold."""


@dataclass(frozen=True)
class CorpusOrigin:
    """Where an encoded corpus lies.

    Attributes:
        folder: its own.
        sha256: of the split's manifest, which holds the hashes of what it was made from.
        tokenizer: SHA-256 of the tokenizer that it was made with.
    """

    folder: Path
    sha256: str
    tokenizer: str


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """One split of a corpus as flat arrays: N tokens in S sentences in D documents. Its length is S.

    Attributes:
        ids: (N,) token ids, without specials, in memory or mapped.
        sentence_offsets: (S + 1,) int64; sentence i is the ids from its i-th to its (i + 1)-th, never none.
        sentence_paragraphs: (S,) int32, the index of its paragraph in its document, from 0, headings counted.
        sentence_words: (S,) int32, its words as white space separates them.
        sentence_headings: (S,) bool, whether it is a heading.
        document_offsets: (D + 1,) int64, in sentences; no document is empty.
        doc_ids: the D ids of the documents.
        origin: where it lies; None for one that was made in memory.
    """

    ids: Ids | JoinedIds
    sentence_offsets: NDArray[np.int64]
    sentence_paragraphs: NDArray[np.int32]
    sentence_words: NDArray[np.int32]
    sentence_headings: NDArray[np.bool_]
    document_offsets: NDArray[np.int64]
    doc_ids: tuple[str, ...]
    origin: CorpusOrigin | None = None

    def __len__(self) -> int:
        return len(self.sentence_offsets) - 1

    def sentence(self, number: int) -> Ids:
        """The ids of a sentence, a view."""
        return self.ids[self.sentence_offsets[number] : self.sentence_offsets[number + 1]]

    def check_tokenizer(self, tokenizer: TextTokenizer, reader: str) -> None:
        """Raise where the ids are those of another tokenizer than the `reader`'s.

        Raises:
            InputError: they are; both are named.
        """
        if self.origin is not None and self.origin.tokenizer != tokenizer.sha256:
            raise InputError(
                self.origin.folder,
                f"is encoded with the tokenizer {self.origin.tokenizer[:12]}, {reader} reads {tokenizer.sha256[:12]}",
                "encode the corpus again, or train on this one",
            )

    @classmethod
    def open(cls, folder: str | Path, split: str) -> EncodedCorpus:
        """Open one split of what `encoding.encode_corpus` wrote.

        The ids stay on disk (memory-mapped). Where the file is more than one record batch (`encoding.BATCH_TOKENS`), 9
        bytes a sentence are copied; 8 bytes a sentence and the ids of the documents are in memory always.
        `datasets.Dataset.from_file` opens the same file; here pyarrow does, whose import takes a tenth of the time.

        Raises:
            InputError: a file is absent, damaged, cut short, or not the one that the manifest describes.
        """
        folder = Path(folder)
        path, beside = folder / f"{split}.arrow", split_manifest(folder, split)
        manifest = read_json(beside)
        try:
            expected = {key: int(manifest[key]) for key in ("documents", "sentences", "tokens")}
            vocabulary = int(manifest["tokenizer"]["vocab_size"])
            origin = CorpusOrigin(folder, sha256(beside), str(manifest["tokenizer"]["sha256"]))
            version = manifest["version"]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                beside, "is no manifest of an encoded split", "encode the corpus again"
            ) from error
        if version != MANIFEST_VERSION:
            raise InputError(
                beside,
                f"is of version {version}, this program reads {MANIFEST_VERSION}",
                "encode the corpus again",
            )
        try:
            with pa.memory_map(str(path)) as file:
                table = pa.ipc.open_stream(file).read_all()
            table.validate(full=True)
            _check_columns(table)
            corpus = cls._of_table(table, origin)
        except (OSError, KeyError, pa.ArrowException) as error:
            raise InputError(path, f"cannot be read ({error})", "encode the corpus again") from error
        found = {"documents": len(corpus.doc_ids), "sentences": len(corpus), "tokens": len(corpus.ids)}
        if found != expected or corpus.sentence_offsets[-1] != len(corpus.ids):
            raise InputError(path, f"holds {found}, its manifest says {expected}", "encode the corpus again")
        if not corpus._fits(table, vocabulary):
            raise InputError(
                path,
                "holds boundaries or ids that do not fit together or the vocabulary",
                "encode the corpus again",
            )
        return corpus

    def _fits(self, table: pa.Table, vocabulary: int) -> bool:
        """Whether all columns tell of the same sentences, none is empty, and every id is one of the vocabulary."""
        sentences = np.diff(self.document_offsets)
        alike = all(np.array_equal(_lengths(table[name]), sentences) for name in COLUMNS if name != "ids")
        if not alike:
            return False
        ends = self.sentence_offsets[self.document_offsets]
        return bool(
            np.array_equal(np.diff(ends), _lengths(table["ids"]))
            and (sentences > 0).all()
            and (np.diff(self.sentence_offsets) > 0).all()
            and (not len(self.ids) or (self.ids.min() >= 0 and self.ids.max() < vocabulary))
        )

    @classmethod
    def _of_table(cls, table: pa.Table, origin: CorpusOrigin) -> EncodedCorpus:
        lengths = _flat(table["sentence_lengths"])
        return cls(
            ids=_ids(table["ids"]),
            sentence_offsets=_offsets(lengths),
            sentence_paragraphs=_flat(table["sentence_paragraphs"]),
            sentence_words=_flat(table["sentence_words"]),
            sentence_headings=_flat(table["sentence_headings"]),
            document_offsets=_offsets(_lengths(table["sentence_lengths"])),
            doc_ids=tuple(table["doc_id"].to_pylist()),
            origin=origin,
        )


def _check_columns(table: pa.Table) -> None:
    """Raise ArrowInvalid unless the columns are those of `COLUMNS` and doc_id, with no value missing."""
    found = table["doc_id"].type
    if not pa.types.is_string(found) or table["doc_id"].null_count:
        raise pa.ArrowInvalid(f"doc_id are {found}, texts were expected")
    for name, kinds in COLUMNS.items():
        column = table[name]
        if not pa.types.is_list(column.type) or column.type.value_type not in kinds:
            raise pa.ArrowInvalid(f"{name} are {column.type}, lists of {kinds[0]} were expected")
        if column.null_count or any(chunk.flatten().null_count for chunk in column.chunks):
            raise pa.ArrowInvalid(f"{name}: a value is missing")


def _lengths(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """How many values each list of a column has."""
    parts = [chunk.value_lengths().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _flat(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values of a column of lists, one after the other; a view where the column is one chunk."""
    parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    if len(parts) == 1:
        return parts[0]  # type: ignore[no-any-return]
    return np.concatenate(parts) if parts else np.empty(0, dtype=column.type.value_type.to_pandas_dtype())


def _ids(column: pa.ChunkedArray) -> Ids | JoinedIds:
    """The ids of all documents: as `_flat`, but never copied."""
    if column.num_chunks < 2:
        return _flat(column)
    return JoinedIds([chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks])


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
