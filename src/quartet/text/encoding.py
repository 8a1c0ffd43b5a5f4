"""A segmented corpus to token ids on disk: on all cores, and never more than a few million tokens in memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, atomic_dir, numbered_lines, sha256, write_json
from quartet.text.documents import parse_segmented
from quartet.text.encoded_corpus import split_manifest
from quartet.text.resumable_work import Arrays, ResumableWork, pack_texts, resume_folder, unpack_texts
from quartet.text.scripts import count_words
from quartet.text.split import SPLITS
from quartet.text.tokenizer import TextTokenizer

BATCH_TOKENS = 1 << 22
"""Documents are written in record batches of about this many tokens: what encoding holds in memory."""

BATCH_BYTES = 1 << 19
"""Lines go to a process together until they have so many bytes: a fraction of a second's work."""

BATCH_SENTENCES = 1 << 10
"""What the tokenizer is given at once: more only wait in memory."""

Line = tuple[int, bytes]
"""A line of a file and its number from 1."""


class EncodedDocuments(NamedTuple):
    """Some documents in their order, as flat arrays: N tokens in S sentences in D documents that are not empty.

    Attributes:
        read: documents read, empty ones too.
        unknown: how many of the ids are [UNK].
        doc_ids: D.
        tokens, sentences: (D,) int64, of each document.
        ids: (N,) uint16 or int32.
        lengths, paragraphs, words: (S,) int32, see `encode_corpus`.
        headings: (S,) bool.
    """

    read: int
    unknown: int
    doc_ids: list[str]
    tokens: NDArray[np.int64]
    sentences: NDArray[np.int64]
    ids: NDArray[Any]
    lengths: NDArray[np.int32]
    paragraphs: NDArray[np.int32]
    words: NDArray[np.int32]
    headings: NDArray[np.bool_]


def encode_corpus(
    segmented_dir: str | Path,
    tokenizer: TextTokenizer,
    out_dir: str | Path,
    workers: int = 0,
    scheduler: str | None = None,
    resume: Path | None = None,
    advance: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """Encode the three splits of a segmented corpus; the same input gives the same files, byte by byte.

    Each ``<split>.arrow`` (datasets' stream format) has one row a document: doc_id string; ids uint16 (int32
    from a vocabulary of 65,536); and for each sentence sentence_lengths, sentence_paragraphs, sentence_words
    int32, sentence_headings bool. Sentences without a token are left out, as are paragraphs and documents
    without a sentence. ``<split>.json`` beside it says of that split what manifest.json says of all three, so that
    an edited test document leaves the files of the other splits as they were.

    Args:
        segmented_dir: what `segmentation.segment_corpus` wrote.
        tokenizer: what encodes it.
        out_dir: the folder to (re)place, only when all is complete.
        workers: processes that share the work; 0: one a core. They change no byte of the result.
        scheduler: of the Dask cluster that does it instead, see `parallel.in_order`.
        resume: a folder that keeps what is done, for this corpus and tokenizer alone; a run that was stopped goes on
            there, and one that succeeds removes it. None: nothing is kept.
        advance: called after each document.

    Returns:
        the manifest: for each split the SHA-256 of the file read, the tokenizer's and its vocabulary size, documents,
        sentences, words, tokens, unknown tokens and their share.

    Raises:
        InputError: a split is absent, damaged or has no token.
    """
    splits: dict[str, dict[str, Any]] = {}
    sources = {split: Path(segmented_dir) / f"{split}.jsonl" for split in SPLITS}
    for source in sources.values():
        if not source.is_file():
            raise InputError(source, "no such file")
    inputs = {split: sha256(source) for split, source in sources.items()}
    if resume is not None:
        resume = resume_folder(resume, *inputs.values(), tokenizer.sha256, BATCH_BYTES)
    vocabulary = {"sha256": tokenizer.sha256, "vocab_size": tokenizer.vocab_size}
    with atomic_dir(out_dir) as folder:
        for split, source in sources.items():
            encode = EncodeLines(tokenizer, source)
            resumed = ResumableWork(resume / split if resume else None, _pack, _unpack)
            batches = _batches(numbered_lines(source))
            with closing(resumed.in_order(encode, batches, workers, scheduler)) as encoded:
                counts = _write(encoded, encode.id_type, folder / f"{split}.arrow", advance)
            if not counts["tokens"]:
                raise InputError(source, "has no token to encode")
            origin = {"version": MANIFEST_VERSION, "input": inputs[split], "tokenizer": vocabulary}
            splits[split] = {**origin, **counts}
            write_json(split_manifest(folder, split), splits[split])
        manifest = {"version": MANIFEST_VERSION, "splits": splits}
        write_json(folder / "manifest.json", manifest)
    if resume is not None:
        shutil.rmtree(resume.parent, ignore_errors=True)
    return manifest


def _pack(encoded: EncodedDocuments) -> Arrays:
    """The arrays as `ResumableWork` keeps them."""
    names, name_lengths = pack_texts(doc_id.encode() for doc_id in encoded.doc_ids)
    numbers = {"read": np.array(encoded.read), "unknown": np.array(encoded.unknown)}
    return encoded._asdict() | numbers | {"doc_ids": names, "doc_id_lengths": name_lengths}


def _unpack(arrays: Arrays) -> EncodedDocuments:
    fields = {name: arrays[name] for name in EncodedDocuments._fields}
    names = [name.decode() for name in unpack_texts(arrays["doc_ids"], arrays["doc_id_lengths"])]
    numbers = {name: int(arrays[name]) for name in ("read", "unknown")}
    return EncodedDocuments(**fields | numbers | {"doc_ids": names})  # type: ignore[arg-type]


# -- lines to arrays -------------------------------------------------------------------------------------------------


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines in parts of `BATCH_BYTES`, the last of each the one that fills it."""
    batch: list[Line] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line[1])
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(frozen=True)
class EncodeLines:
    """The work on some lines of the file `source`."""

    tokenizer: TextTokenizer
    source: Path

    @property
    def id_type(self) -> np.dtype[Any]:
        """The smallest type that the files know for the ids."""
        return np.dtype(np.uint16 if self.tokenizer.vocab_size < 1 << 16 else np.int32)

    def __call__(self, lines: Sequence[Line]) -> EncodedDocuments:
        """The documents of the lines.

        Raises:
            InputError: a line is no segmented document.
        """
        doc_ids: list[str] = []
        texts: list[str] = []
        # A paragraph has one number in all lines; of each sentence its paragraph's is kept.
        owners: list[int] = []
        headings: list[bool] = []
        stops: list[int] = []  # (D,) in sentences
        paragraphs = 0
        for document in parse_segmented(lines, self.source):
            for paragraph in document.paragraphs:
                texts += paragraph.sentences
                owners += [paragraphs] * len(paragraph.sentences)
                headings += [paragraph.heading] * len(paragraph.sentences)
                paragraphs += 1
            doc_ids.append(document.id)
            stops.append(len(texts))
        lengths, ids = self._ids(texts)
        words = np.fromiter(map(count_words, texts), np.int32, len(texts))
        token_stops = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])[stops]
        kept = lengths > 0
        kept_stops = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[stops]
        sentences = np.diff(kept_stops, prepend=0)
        some = sentences > 0
        return EncodedDocuments(
            read=len(doc_ids),
            unknown=int(np.count_nonzero(ids == self.tokenizer.unk_id)),
            doc_ids=[doc_id for doc_id, has_some in zip(doc_ids, some, strict=True) if has_some],
            tokens=np.diff(token_stops, prepend=0)[some],
            sentences=sentences[some],
            ids=ids,
            lengths=lengths[kept],
            paragraphs=_ranks(np.array(owners, dtype=np.int64)[kept], sentences[some]),
            words=words[kept],
            headings=np.array(headings, dtype=bool)[kept],
        )

    def _ids(self, texts: list[str]) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The number of tokens of each text, and all ids one after the other."""
        lengths, ids = [np.empty(0, np.int32)], [np.empty(0, self.id_type)]
        for start in range(0, len(texts), BATCH_SENTENCES):
            found = self.tokenizer.encode_batch(texts[start : start + BATCH_SENTENCES])
            lengths.append(np.fromiter(map(len, found), np.int32, len(found)))
            ids.append(np.fromiter(chain.from_iterable(found), self.id_type, int(lengths[-1].sum())))
        return np.concatenate(lengths), np.concatenate(ids)


def _ranks(owners: NDArray[np.int64], sentences: NDArray[np.int64]) -> NDArray[np.int32]:
    """Of each sentence (S,) the place of its paragraph among those of its document that have any, from 0.

    >>> _ranks(np.array([4, 6, 6, 7, 9]), np.array([3, 2])).tolist()
    [0, 1, 1, 0, 1]
    """
    new = np.diff(owners, prepend=-1) > 0  # (S,) a paragraph begins here
    ranks = np.cumsum(new, dtype=np.int64)  # in all documents, from 1
    firsts = np.cumsum(sentences) - sentences  # (D,)
    ranks -= np.repeat(ranks[firsts], sentences)
    return ranks.astype(np.int32)


# -- arrays to files -------------------------------------------------------------------------------------------------


def _write(
    encoded: Iterable[EncodedDocuments], id_type: np.dtype[Any], path: Path, advance: Callable[[], object]
) -> dict[str, float]:
    from datasets import Features, Value
    from datasets import Sequence as ListOf
    from datasets.arrow_writer import ArrowWriter

    names = ("sentence_lengths", "sentence_paragraphs", "sentence_words")
    features = Features(
        {"doc_id": Value("string"), "ids": ListOf(Value(id_type.name))}
        | {name: ListOf(Value("int32")) for name in names}
        | {"sentence_headings": ListOf(Value("bool"))}
    )
    totals = dict.fromkeys(("documents", "sentences", "words", "tokens", "unknown"), 0)
    waiting: list[EncodedDocuments] = []  # until they are a record batch
    room = BATCH_TOKENS
    with ArrowWriter(path=str(path), features=features) as writer:

        def flush() -> None:
            rows = sum(len(part.doc_ids) for part in waiting)
            writer.write_table(_table(waiting), writer_batch_size=rows)
            waiting.clear()

        for some in encoded:
            rest = some
            while rest.doc_ids:
                # The document that fills the record batch is its last.
                count = 1 + int(np.searchsorted(np.cumsum(rest.tokens), room))
                part, rest = _parted(rest, count)
                waiting.append(part)
                room -= len(part.ids)
                if room <= 0:
                    flush()
                    room = BATCH_TOKENS
            totals["documents"] += len(some.doc_ids)
            totals["sentences"] += len(some.lengths)
            totals["words"] += int(some.words.sum())
            totals["tokens"] += len(some.ids)
            totals["unknown"] += some.unknown
            for _ in range(some.read):
                advance()
        if waiting:
            flush()
        writer.finalize()
    return {**totals, "unknown_share": totals["unknown"] / max(1, totals["tokens"])}


def _parted(rows: EncodedDocuments, count: int) -> tuple[EncodedDocuments, EncodedDocuments]:
    """The first `count` documents, and the others."""
    tokens, sentences = int(rows.tokens[:count].sum()), int(rows.sentences[:count].sum())
    places = {"doc_ids": count, "tokens": count, "sentences": count, "ids": tokens}
    places |= dict.fromkeys(("lengths", "paragraphs", "words", "headings"), sentences)
    first = {name: getattr(rows, name)[:place] for name, place in places.items()}
    return rows._replace(**first), rows._replace(
        **{name: getattr(rows, name)[place:] for name, place in places.items()}
    )


def _table(parts: Sequence[EncodedDocuments]) -> pa.Table:
    """The rows of a record batch."""

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    def nested(counts: str, values: str) -> pa.Array:
        offsets = np.concatenate([[0], np.cumsum(joined(counts))])
        return pa.ListArray.from_arrays(pa.array(offsets, type=pa.int32()), pa.array(joined(values)))

    doc_ids = [doc_id for part in parts for doc_id in part.doc_ids]
    columns = {"doc_id": pa.array(doc_ids, type=pa.string()), "ids": nested("tokens", "ids")}
    for name in ("lengths", "paragraphs", "words", "headings"):
        columns[f"sentence_{name}"] = nested("sentences", name)
    return pa.table(columns)
