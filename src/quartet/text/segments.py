"""Paragraphs to sentences by NLTK's Punkt: a ready model, or one trained on the text."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal
from zipfile import BadZipFile

from quartet.errors import InputError
from quartet.text.documents import Document, SegmentedDocument, SegmentedParagraph

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

    from quartet.text.punkt import Punkt

    try:
        return Punkt(PunktTokenizer(language)._params), ""
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
    from nltk.tokenize.punkt import PunktTrainer

    from quartet.text.punkt import Punkt

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
    return Segmenter(Punkt(trainer.get_params()), provenance)
