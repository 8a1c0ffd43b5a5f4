"""A whole corpus to three files of segmented documents: on all cores, and never more than a few documents in memory."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, atomic_dir, files_below, sha256, write_json
from quartet.text.documents import Document, Draft, SegmentedDocument, documents_of
from quartet.text.hub import HubReader
from quartet.text.resumable_work import Arrays, ResumableWork, pack_texts, resume_folder, unpack_texts
from quartet.text.segmenter import TRAINING_CHARACTERS, PunktChoice, Segmenter, load_segmenter
from quartet.text.sources import FILES, Reader
from quartet.text.split import SPLITS, HeldOutShares, folder_of, given_split, none_empty

BATCH_CHARACTERS = 1 << 18
"""Drafts go to a process together until they have so many characters: a fraction of a second's work."""

COUNTED = ("documents", "paragraphs", "headings", "sentences", "words", "characters")
"""What the manifest says of each split, and each line of the unsplit file of its document."""


class _Named(Protocol):
    @property
    def id(self) -> str: ...


NamedT = TypeVar("NamedT", bound=_Named)


class DocumentLine(NamedTuple):
    """A segmented document as it is written.

    Attributes:
        id: the document's.
        line: its JSON and the end of the line; nothing where it has no paragraph.
        counts: of `COUNTED`.
    """

    id: str
    line: bytes
    counts: tuple[int, ...]


@dataclass(frozen=True)
class SegmentDrafts:
    """The work on some drafts: finish them, cut them into sentences, write them as JSON."""

    segmenter: Segmenter

    def __call__(self, drafts: Sequence[Draft]) -> list[DocumentLine]:
        """One row for each document that comes of the drafts."""
        return [self._row(document) for document in documents_of(drafts)]

    def _row(self, document: Document) -> DocumentLine:
        segmented = self.segmenter.segment(document)
        if not segmented.paragraphs:
            return DocumentLine(document.id, b"", ())
        text = json.dumps(segmented.to_json(), sort_keys=True, ensure_ascii=False)
        return DocumentLine(document.id, f"{text}\n".encode(), _count(segmented))


def segment_corpus(
    reader: Reader,
    path: str | Path,
    out_dir: str | Path,
    *,
    shares: HeldOutShares | None,
    punkt: PunktChoice = "published",
    curated: bool = True,
    language: str = "english",
    limit: int = 0,
    training_characters: int = TRAINING_CHARACTERS,
    workers: int = 0,
    scheduler: str | None = None,
    resume: Path | None = None,
    advance: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """Read, segment and split a corpus, streaming; write ``train|valid|test.jsonl`` and ``manifest.json``.

    In memory are what Punkt is trained on, if it is, the documents on their way (see `parallel.in_order`) and eight
    bytes for each document read.

    Args:
        reader: an entry of `SOURCES`.
        path: what it reads.
        out_dir: the folder to (re)place, only when all is complete.
        shares: how to split, or None for a corpus that brings its splits: its documents' ids begin with train/, valid/
            or test/.
        punkt: which Punkt model, see `load_segmenter`.
        curated: whether the curated abbreviations are added to it.
        language: its language.
        limit: read only that many documents (0: all), of each split where the corpus brings them.
        training_characters: how much text Punkt is trained on, if it is.
        workers: processes that share the work; 0: one a core. They change no byte of the result.
        scheduler: of the Dask cluster that does it instead, see `parallel.in_order`. Its workers read the files of a
            folder of texts themselves, at the same absolute path.
        resume: a folder that keeps what is done, for this corpus alone; a run that was stopped goes on there, and one
            that succeeds removes it. None: nothing is kept.
        advance: called after each document.

    Returns:
        the manifest: counts (documents, paragraphs, headings, sentences, words, characters) of each split,
        the origin of the segmenter, the name and SHA-256 of the source, and that of each file. Paragraphs include
        headings.

    Raises:
        InputError: as the reader, `load_segmenter` and the split raise it; nothing is written then.
    """
    path = Path(path) if scheduler is None else Path(path).absolute()
    by_folder = shares is None
    source = {
        "name": path.name,
        "sha256": source_sha256(path, None if isinstance(reader, HubReader) else FILES.get(reader)),
    }
    drafts = iter(reader(path))
    already_read: list[Document] = []  # what training took from the drafts

    def running_text() -> Iterator[str]:
        for document in _limited(documents_of(drafts), limit, by_folder):
            already_read.append(document)
            yield from (paragraph.text for paragraph in document.paragraphs if not paragraph.heading)

    segmenter = load_segmenter(punkt, language, running_text, training_characters, curated)
    if resume is not None:
        read = (getattr(reader, "__qualname__", None) or repr(reader), source["sha256"], limit, by_folder)
        cut = (segmenter.provenance, language, training_characters, BATCH_CHARACTERS)
        resume = resume_folder(resume, *read, *cut)
    resumed = ResumableWork(resume, _pack, _unpack)
    batches = _batches(chain(already_read, drafts))
    work = resumed.in_order(SegmentDrafts(segmenter), batches, workers, scheduler)
    with atomic_dir(out_dir) as folder, closing(work) as done:
        # The split needs all ids, so the documents wait in one file until the last has been read.
        unsplit = folder / "unsplit.jsonl"
        keys, given = array("Q"), list[str]()
        with open(unsplit, "wb") as file:
            for row in _limited(chain.from_iterable(done), limit, by_folder):
                if row.line:
                    file.write(b"%s\t%s" % (" ".join(map(str, row.counts)).encode(), row.line))
                    if shares:
                        keys.append(shares.key(row.id))
                    else:
                        given.append(given_split(row.id))
                advance()
        splits = shares.assign(keys) if shares else none_empty(given)
        counts = _distribute(unsplit, splits, folder)
        unsplit.unlink()
        manifest = {
            "version": MANIFEST_VERSION,
            "sha256": {f"{split}.jsonl": sha256(folder / f"{split}.jsonl") for split in SPLITS},
            "source": source,
            "segmenter": segmenter.provenance,
            "splits": counts,
        }
        write_json(folder / "manifest.json", manifest)
    resumed.clear()
    return manifest


def _pack(rows: list[DocumentLine]) -> Arrays:
    """The rows as `ResumableWork` keeps them; a document without paragraphs counts nothing."""
    ids, id_lengths = pack_texts(row.id.encode() for row in rows)
    lines, line_lengths = pack_texts(row.line for row in rows)
    counts = np.array([row.counts or (0,) * len(COUNTED) for row in rows], dtype=np.int64)
    return {
        "ids": ids,
        "id_lengths": id_lengths,
        "lines": lines,
        "line_lengths": line_lengths,
        "counts": counts.reshape(-1, len(COUNTED)),
    }


def _unpack(arrays: Arrays) -> list[DocumentLine]:
    ids = unpack_texts(arrays["ids"], arrays["id_lengths"])
    lines = unpack_texts(arrays["lines"], arrays["line_lengths"])
    return [
        DocumentLine(name.decode(), line, tuple(counts) if line else ())
        for name, line, counts in zip(ids, lines, arrays["counts"].tolist(), strict=True)
    ]


def _limited(stream: Iterator[NamedT], limit: int, of_each_split: bool) -> Iterator[NamedT]:
    """The first `limit` documents (0: all), or of each split the first ones."""
    if not limit:
        return stream
    if not of_each_split:
        return islice(stream, limit)
    taken: Counter[str] = Counter()

    def within(document: NamedT) -> bool:
        split = folder_of(document.id)
        taken[split] += 1
        return taken[split] <= limit

    return filter(within, stream)


def _batches(drafts: Iterable[Draft]) -> Iterator[list[Draft]]:
    """Drafts in parts of `BATCH_CHARACTERS`, the last of each the one that fills it."""
    batch: list[Draft] = []
    size = 0
    try:
        for draft in drafts:
            batch.append(draft)
            size += draft.size
            if size >= BATCH_CHARACTERS:
                yield batch
                batch, size = [], 0
    except InputError:
        if batch:
            yield batch  # a limit may end the reading before the place of the error
        raise
    if batch:
        yield batch


def _distribute(unsplit: Path, splits: list[str], folder: Path) -> dict[str, dict[str, int]]:
    """Move each line of `unsplit` to the file of its split; return the counts of each split."""
    totals = {split: dict.fromkeys(COUNTED, 0) for split in SPLITS}
    with ExitStack() as stack:
        lines = stack.enter_context(open(unsplit, "rb"))
        files = {split: stack.enter_context(open(folder / f"{split}.jsonl", "wb")) for split in SPLITS}
        for line, split in zip(lines, splits, strict=True):
            counts, _, row = line.partition(b"\t")
            files[split].write(row)
            for name, count in zip(COUNTED, counts.split(), strict=True):
                totals[split][name] += int(count)
    return totals


def _count(document: SegmentedDocument) -> tuple[int, ...]:
    """The figures of `COUNTED`."""
    return (
        1,
        len(document.paragraphs),
        sum(paragraph.heading for paragraph in document.paragraphs),
        sum(len(paragraph.sentences) for paragraph in document.paragraphs),
        document.words,
        sum(map(len, document.sentences)),
    )


def source_sha256(path: Path, endings: tuple[str, ...] | None = None) -> str:
    """The SHA-256 of a file, or of the names and SHA-256s of a folder's files of these endings (None: of all)."""
    if path.is_file():
        return sha256(path)
    digest = hashlib.sha256()
    files = (file for file in files_below(path) if endings is None or file.suffix in endings)
    for file in sorted(files, key=lambda file: file.relative_to(path).as_posix()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n".encode())
    return digest.hexdigest()
