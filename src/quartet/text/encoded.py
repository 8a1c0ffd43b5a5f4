"""Token ids on disk with sentence, paragraph and document boundaries: writing them, and a memory-mapped view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.files import atomic_dir, read_json, write_json
from quartet.text.documents import SegmentedDocument, read_segmented
from quartet.text.split import SPLITS
from quartet.text.tokenizer import TextTokenizer

Ids: TypeAlias = NDArray[np.uint16] | NDArray[np.int32]

BATCH_TOKENS = 1 << 22
"""Documents are written in record batches of about this many tokens: what encoding holds in memory."""


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """One split of a corpus as flat arrays: N tokens in S sentences in D documents. Its length is S.

    Attributes:
        ids: (N,) token ids, without specials.
        sentence_offsets: (S + 1,) int64; sentence i is the ids from its i-th to its (i + 1)-th, never none.
        sentence_paragraphs: (S,) int32, the index of its paragraph in its document, from 0, headings counted.
        sentence_words: (S,) int32, its words as white space separates them.
        sentence_headings: (S,) bool, whether it is a heading.
        document_offsets: (D + 1,) int64, in sentences; no document is empty.
        doc_ids: the D ids of the documents.
    """

    ids: Ids
    sentence_offsets: NDArray[np.int64]
    sentence_paragraphs: NDArray[np.int32]
    sentence_words: NDArray[np.int32]
    sentence_headings: NDArray[np.bool_]
    document_offsets: NDArray[np.int64]
    doc_ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sentence_offsets) - 1

    def sentence(self, number: int) -> Ids:
        """The ids of a sentence, a view."""
        return self.ids[self.sentence_offsets[number] : self.sentence_offsets[number + 1]]

    @classmethod
    def open(cls, folder: str | Path, split: str) -> EncodedCorpus:
        """Open one split of what `encode_corpus` wrote.

        The ids stay on disk (memory-mapped) where the file is one record batch, up to about BATCH_TOKENS
        tokens; of a larger file they are copied once, two or four bytes a token. `datasets.Dataset.from_file`
        opens the same file; here pyarrow does, whose import takes a tenth of the time.

        Raises:
            InputError: a file is absent, damaged, cut short, or not the one that the manifest describes.
        """
        folder = Path(folder)
        path = folder / f"{split}.arrow"
        manifest = read_json(folder / "manifest.json")
        try:
            expected = {
                key: int(manifest["splits"][split][key]) for key in ("documents", "sentences", "tokens")
            }
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(folder / "manifest.json", f"says nothing of the split {split!r}") from error
        try:
            with pa.memory_map(str(path)) as file:
                table = pa.ipc.open_stream(file).read_all()
            table.validate(full=True)
            corpus = cls._of_table(table)
        except (OSError, KeyError, pa.ArrowInvalid) as error:
            raise InputError(path, f"cannot be read ({error})", "encode the corpus again") from error
        found = {"documents": len(corpus.doc_ids), "sentences": len(corpus), "tokens": len(corpus.ids)}
        if found != expected or corpus.sentence_offsets[-1] != len(corpus.ids):
            raise InputError(path, f"holds {found}, its manifest says {expected}", "encode the corpus again")
        return corpus

    @classmethod
    def _of_table(cls, table: pa.Table) -> EncodedCorpus:
        lengths = _flat(table["sentence_lengths"])
        sentences = table["sentence_lengths"].combine_chunks().value_lengths()
        return cls(
            ids=_flat(table["ids"]),
            sentence_offsets=_offsets(lengths),
            sentence_paragraphs=_flat(table["sentence_paragraphs"]),
            sentence_words=_flat(table["sentence_words"]),
            sentence_headings=_flat(table["sentence_headings"]),
            document_offsets=_offsets(sentences.to_numpy(zero_copy_only=False)),
            doc_ids=tuple(table["doc_id"].to_pylist()),
        )


def _flat(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values of a column of lists, one after the other; a view where the column is one chunk."""
    parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    if len(parts) == 1:
        return parts[0]  # type: ignore[no-any-return]
    return np.concatenate(parts) if parts else np.empty(0, dtype=column.type.value_type.to_pandas_dtype())


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])


# -- writing ---------------------------------------------------------------------------------------------


def encode_corpus(
    segmented_dir: str | Path,
    tokenizer: TextTokenizer,
    out_dir: str | Path,
    advance: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """Encode the three splits of a segmented corpus; the same input gives the same files, byte by byte.

    Each ``<split>.arrow`` (datasets' stream format) has one row a document: doc_id string; ids uint16 (int32
    from a vocabulary of 65,536); and for each sentence sentence_lengths, sentence_paragraphs, sentence_words
    int32, sentence_headings bool. Sentences without a token are left out, as are paragraphs and documents
    without a sentence.

    Args:
        segmented_dir: what `segments.segment_corpus` wrote.
        tokenizer: what encodes it.
        out_dir: the folder to (re)place, only when all is complete.
        advance: called after each document.

    Returns:
        the manifest: the tokenizer's SHA-256 and vocabulary size, and for each split documents, sentences,
        words, tokens, unknown tokens and their share.

    Raises:
        InputError: a split is absent, damaged or has no token.
    """
    splits: dict[str, dict[str, float]] = {}
    with atomic_dir(out_dir) as folder:
        for split in SPLITS:
            source = Path(segmented_dir) / f"{split}.jsonl"
            splits[split] = _write(read_segmented(source), tokenizer, folder / f"{split}.arrow", advance)
            if not splits[split]["tokens"]:
                raise InputError(source, "has no token to encode")
        manifest = {
            "tokenizer": {"sha256": tokenizer.sha256, "vocab_size": tokenizer.vocab_size},
            "splits": splits,
        }
        write_json(folder / "manifest.json", manifest)
    return manifest


class _Batch:
    """Rows that wait to be written: per document the counts, per sentence and token the values."""

    def __init__(self) -> None:
        self.doc_ids: list[str] = []
        self.tokens: list[int] = []  # per document
        self.sentences: list[int] = []  # per document
        self.ids: list[NDArray[Any]] = []
        self.lengths: list[int] = []
        self.paragraphs: list[int] = []
        self.words: list[int] = []
        self.headings: list[bool] = []
        self.size = 0

    def table(self, id_type: pa.DataType) -> pa.Table:
        def nested(counts: list[int], values: pa.Array) -> pa.Array:
            return pa.ListArray.from_arrays(pa.array(_offsets(np.array(counts)), type=pa.int32()), values)

        ids = pa.array(np.concatenate(self.ids), type=id_type)
        per_sentence = {
            "sentence_lengths": pa.array(self.lengths, type=pa.int32()),
            "sentence_paragraphs": pa.array(self.paragraphs, type=pa.int32()),
            "sentence_words": pa.array(self.words, type=pa.int32()),
            "sentence_headings": pa.array(self.headings, type=pa.bool_()),
        }
        columns = {"doc_id": pa.array(self.doc_ids, type=pa.string()), "ids": nested(self.tokens, ids)}
        return pa.table(
            columns | {name: nested(self.sentences, values) for name, values in per_sentence.items()}
        )


def _write(
    documents: Iterator[SegmentedDocument],
    tokenizer: TextTokenizer,
    path: Path,
    advance: Callable[[], object],
) -> dict[str, float]:
    from datasets import Features, Value
    from datasets import Sequence as ListOf
    from datasets.arrow_writer import ArrowWriter

    id_name, id_type = ("uint16", pa.uint16()) if tokenizer.vocab_size < 1 << 16 else ("int32", pa.int32())
    names = ("sentence_lengths", "sentence_paragraphs", "sentence_words")
    features = Features(
        {"doc_id": Value("string"), "ids": ListOf(Value(id_name))}
        | {name: ListOf(Value("int32")) for name in names}
        | {"sentence_headings": ListOf(Value("bool"))}
    )
    totals = dict.fromkeys(("documents", "sentences", "words", "tokens", "unknown"), 0)
    batch = _Batch()
    with ArrowWriter(path=str(path), features=features) as writer:
        for document in documents:
            _add(document, tokenizer, batch, totals)
            if batch.size >= BATCH_TOKENS:
                writer.write_table(batch.table(id_type), writer_batch_size=len(batch.doc_ids))
                batch = _Batch()
            advance()
        if batch.doc_ids:
            writer.write_table(batch.table(id_type), writer_batch_size=len(batch.doc_ids))
        writer.finalize()
    return {**totals, "unknown_share": totals["unknown"] / max(1, totals["tokens"])}


def _add(
    document: SegmentedDocument, tokenizer: TextTokenizer, batch: _Batch, totals: dict[str, int]
) -> None:
    """Encode a document into the batch."""
    sentences = [
        (text, p.heading, number) for number, p in enumerate(document.paragraphs) for text in p.sentences
    ]
    encoded = tokenizer.encode_batch([text for text, _, _ in sentences])
    kept = [(ids, *rest) for ids, rest in zip(encoded, sentences, strict=True) if ids]
    if not kept:
        return
    numbers = {number: rank for rank, number in enumerate(dict.fromkeys(number for *_, number in kept))}
    flat = np.array([token for ids, *_ in kept for token in ids])
    words = [len(text.split()) for _, text, _, _ in kept]
    batch.doc_ids.append(document.id)
    batch.tokens.append(len(flat))
    batch.sentences.append(len(kept))
    batch.ids.append(flat)
    batch.lengths += [len(ids) for ids, *_ in kept]
    batch.paragraphs += [numbers[number] for *_, number in kept]
    batch.words += words
    batch.headings += [heading for _, _, heading, _ in kept]
    batch.size += len(flat)
    totals["documents"] += 1
    totals["sentences"] += len(kept)
    totals["words"] += sum(words)
    totals["tokens"] += len(flat)
    totals["unknown"] += int((flat == tokenizer.unk_id).sum())
