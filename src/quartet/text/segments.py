"""Paragraphs to sentences by NLTK's Punkt, and a whole corpus to three files of segmented documents."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

from quartet.errors import InputError
from quartet.files import atomic_dir, sha256, write_json
from quartet.text.documents import Document, SegmentedDocument, SegmentedParagraph
from quartet.text.sources import TEXT_FILES, Reader
from quartet.text.split import SPLITS, Shares, folder_of, split_by_folder

PunktChoice = Literal["auto", "punkt_tab", "train"]

DOWNLOAD_SECONDS = 10.0
TRAINING_CHARACTERS = 3_000_000
"""Punkt trains on the corpus up to here: about 2 s and 100 MB a million characters, and more gains little."""


class Segmenter:
    """Cuts a paragraph into sentences.

    Attributes:
        provenance: where the model comes from, in one line, for the manifest.
    """

    def __init__(self, punkt: Any, provenance: str) -> None:
        self._punkt = punkt
        self.provenance = provenance

    def spans(self, paragraph: str) -> list[tuple[int, int]]:
        """Where each sentence stands: its first character, and the one behind its last; no white space at either end.

        Where Punkt cuts inside a word, as between "etc." and ");", the parts stay together.
        """
        joined: list[tuple[int, int]] = []
        stop = -1
        for start, end in self._punkt.span_tokenize(paragraph):
            if start == stop and not any(map(str.isspace, paragraph[stop - 1 : stop + 1])):
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
            stop = end
        trimmed = []
        for start, end in joined:
            text = paragraph[start:end]
            if inner := text.strip():
                first = start + len(text) - len(text.lstrip())
                trimmed.append((first, first + len(inner)))
        return trimmed

    def sentences(self, paragraph: str) -> list[str]:
        """The sentences of a paragraph; joined by blanks they are the paragraph again, up to white space."""
        return [paragraph[start:end] for start, end in self.spans(paragraph)]

    def segment(self, document: Document) -> SegmentedDocument:
        """A document's paragraphs cut into sentences; a heading is one sentence, empty paragraphs are left out."""
        paragraphs = (
            SegmentedParagraph((p.text,) if p.heading else tuple(self.sentences(p.text)), p.heading)
            for p in document.paragraphs
            if p.text.strip()
        )
        return SegmentedDocument(document.id, document.title, tuple(p for p in paragraphs if p.sentences))


def load_segmenter(
    choice: PunktChoice,
    language: str,
    training_text: Callable[[], Iterator[str]],
    training_characters: int = TRAINING_CHARACTERS,
) -> Segmenter:
    """Get a Punkt model for `language`.

    Args:
        choice: ``punkt_tab``: NLTK's ready model, installed or downloaded now (into NLTK's own data folder);
            ``train``: trained, without supervision, on `training_text`; ``auto``: the ready model if it can
            be had, else training.
        language: NLTK's name of it, e.g. ``english``; training does not need it.
        training_text: yields paragraphs; called only where a model is trained.
        training_characters: how many characters of it to use.

    Raises:
        InputError: the ready model was asked for and cannot be had, or there is no text to train on.
    """
    if choice != "train":
        model, problem = _installed(language)
        if model is None and _download():
            model, problem = _installed(language)
        if model is not None:
            return Segmenter(model, f"punkt_tab, {language} ({_nltk()})")
        if choice == "punkt_tab":
            raise InputError(
                f"punkt_tab, {language}",
                f"{problem}, and a download did not help",
                "run `python -m nltk.downloader punkt_tab` where there is a network, or choose punkt: train",
            )
    return _trained(training_text(), training_characters)


def _nltk() -> str:
    import nltk

    return f"NLTK {nltk.__version__}"


def _installed(language: str) -> tuple[Any, str]:
    """NLTK's ready tokenizer, or None and why there is none."""
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer(language), ""
    except LookupError:
        return None, "is not installed"
    except (ValueError, OSError, BadZipFile) as error:
        return None, f"is damaged ({error})"


def _download() -> bool:
    """Try to install punkt_tab; False where that fails or lasts longer than DOWNLOAD_SECONDS."""
    import nltk

    succeeded: list[bool] = []

    def fetch() -> None:
        try:
            succeeded.append(
                nltk.download("punkt_tab", quiet=True, raise_on_error=True, print_error_to=io.StringIO())
            )
        except Exception:  # no network, no space, a broken index: all mean that it cannot be had
            succeeded.append(False)

    # NLTK waits two minutes for an answer. A daemon thread can be left behind: it ends with the program.
    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    thread.join(DOWNLOAD_SECONDS)
    return bool(succeeded and succeeded[0])


def _trained(paragraphs: Iterable[str], limit: int) -> Segmenter:
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

    chosen: list[str] = []
    characters = 0
    for paragraph in paragraphs:
        if characters >= limit:
            break
        chosen.append(paragraph)
        characters += len(paragraph)
    if not characters:
        raise InputError("segmentation", "there is no text to train Punkt on")
    trainer = PunktTrainer()
    trainer.train("\n\n".join(chosen))
    provenance = f"trained on {characters:,} characters of the corpus ({_nltk()})"
    return Segmenter(PunktSentenceTokenizer(trainer.get_params()), provenance)


def segment_corpus(
    reader: Reader,
    path: str | Path,
    out_dir: str | Path,
    *,
    shares: Shares | None,
    punkt: PunktChoice = "auto",
    language: str = "english",
    limit: int = 0,
    training_characters: int = TRAINING_CHARACTERS,
    advance: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """Read, segment and split a corpus, streaming; write ``train|valid|test.jsonl`` and ``manifest.json``.

    Args:
        reader: an entry of `SOURCES`.
        path: what it reads.
        out_dir: the folder to (re)place, only when all is complete.
        shares: how to split, or None for a corpus that brings its splits: its documents' ids begin with train/, valid/
            or test/.
        punkt: which Punkt model, see `load_segmenter`.
        language: its language.
        limit: read only that many documents (0: all), of each split where the corpus brings them.
        training_characters: how much text Punkt is trained on, if it is.
        advance: called after each document.

    Returns:
        the manifest: counts (documents, paragraphs, headings, sentences, words, characters) of each split,
        the origin of the segmenter, and the name and SHA-256 of the source. Paragraphs include headings.

    Raises:
        InputError: as the reader, `load_segmenter` and the split raise it; nothing is written then.
    """
    path = Path(path)
    stream = _limited(reader(path), limit, of_each_split=shares is None)
    already_read: list[Document] = []  # what training took from the stream

    def running_text() -> Iterator[str]:
        for document in stream:
            already_read.append(document)
            yield from (paragraph.text for paragraph in document.paragraphs if not paragraph.heading)

    segmenter = load_segmenter(punkt, language, running_text, training_characters)
    with atomic_dir(out_dir) as folder:
        # The split needs all ids, so the documents wait in one file until the last has been read.
        unsplit = folder / "unsplit.jsonl"
        keys, ids = array("Q"), list[str]()
        with open(unsplit, "w", encoding="utf-8") as file:
            for document in chain(already_read, stream):
                segmented = segmenter.segment(document)
                if segmented.paragraphs:
                    file.write(json.dumps(segmented.to_json(), sort_keys=True, ensure_ascii=False) + "\n")
                    if shares:
                        keys.append(shares.key(document.id))
                    else:
                        ids.append(document.id)
                advance()
        splits = shares.assign(keys) if shares else split_by_folder(ids)
        counts = _distribute(unsplit, splits, folder)
        unsplit.unlink()
        manifest = {
            "source": {"name": path.name, "sha256": source_sha256(path)},
            "segmenter": segmenter.provenance,
            "splits": counts,
        }
        write_json(folder / "manifest.json", manifest)
    return manifest


def _limited(documents: Iterator[Document], limit: int, of_each_split: bool) -> Iterator[Document]:
    """The first `limit` documents (0: all), or of each split the first ones."""
    if not limit:
        return documents
    if not of_each_split:
        return islice(documents, limit)
    taken: Counter[str] = Counter()

    def within(document: Document) -> bool:
        split = folder_of(document.id)
        taken[split] += 1
        return taken[split] <= limit

    return filter(within, documents)


def _distribute(unsplit: Path, splits: list[str], folder: Path) -> dict[str, dict[str, int]]:
    """Move each line of `unsplit` to the file of its split; return the counts of each split."""
    counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    with ExitStack() as stack:
        lines = stack.enter_context(open(unsplit, encoding="utf-8"))
        paths = {split: folder / f"{split}.jsonl" for split in SPLITS}
        files = {split: stack.enter_context(open(paths[split], "w", encoding="utf-8")) for split in SPLITS}
        for line, split in zip(lines, splits, strict=True):
            files[split].write(line)
            counts[split].update(_count(SegmentedDocument.from_json(json.loads(line))))
    return {split: dict(count) for split, count in counts.items()}


def _count(document: SegmentedDocument) -> dict[str, int]:
    return {
        "documents": 1,
        "paragraphs": len(document.paragraphs),
        "headings": sum(paragraph.heading for paragraph in document.paragraphs),
        "sentences": sum(1 for _ in document.sentences),
        "words": document.words,
        "characters": sum(map(len, document.sentences)),
    }


def source_sha256(path: Path) -> str:
    """The SHA-256 of a file, or of the names and SHA-256s of a folder's text files (`TEXT_FILES`)."""
    if path.is_file():
        return sha256(path)
    digest = hashlib.sha256()
    files = (file for file in path.rglob("*") if file.suffix in TEXT_FILES and file.is_file())
    for file in sorted(files, key=lambda file: file.relative_to(path).as_posix()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n".encode())
    return digest.hexdigest()
