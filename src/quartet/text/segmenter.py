"""Paragraphs to sentences by NLTK's Punkt: a published model, one of the user's, or one trained on the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from quartet.errors import InputError
from quartet.text.documents import Document, SegmentedDocument, SegmentedParagraph

PunktChoice = Literal["published", "trained"] | Path

TRAINING_CHARACTERS = 3_000_000
"""Punkt trains on the corpus up to here: about 2 s and 100 MB a million characters, and more gains little."""

OTHER_SPACES = re.compile(r"[^\S\x00-\x7f]")
"""White space beyond ASCII, such as the no-break spaces: Punkt reads each as a blank, the text keeps it."""


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
        for start, end in self._punkt.span_tokenize(_with_blanks(paragraph)):
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
        """A document's paragraphs cut into sentences, but those that bring theirs; a heading is one sentence.

        Empty paragraphs are left out.
        """
        paragraphs = (
            SegmentedParagraph(
                (p.text,) if p.heading else p.sentences or tuple(self.sentences(p.text)), p.heading
            )
            for p in document.paragraphs
            if p.text.strip()
        )
        return SegmentedDocument(document.id, document.title, tuple(p for p in paragraphs if p.sentences))


def load_segmenter(
    choice: PunktChoice,
    language: str,
    training_text: Callable[[], Iterator[str]],
    training_characters: int = TRAINING_CHARACTERS,
    curated: bool = True,
) -> Segmenter:
    """Get a Punkt model for `language`.

    Args:
        choice: ``published``: NLTK's model of the language; ``trained``: trained, without supervision, on
            `training_text`; a path: the user's, see `punkt_model.read_model`.
        language: NLTK's name of it, e.g. ``english``.
        training_text: yields paragraphs; called only where a model is trained.
        training_characters: how many characters of it to use.
        curated: add the abbreviations of `punkt_model.add_curated`.

    Raises:
        InputError: there is no such model or no such list, it is damaged, or there is no text to train on.
    """
    from punkt.model.prefixes import curated_abbreviations

    from quartet.text import punkt_model
    from quartet.text.punkt import NONE, Punkt

    if choice == "published":
        known = punkt_model.published_model(language)
        origin = f"published model, {language}"
    elif choice == "trained":
        text, characters = _joined(training_text(), training_characters)
        known = punkt_model.train_model(text)
        origin = f"trained on {characters:,} characters of the corpus"
    else:
        known = punkt_model.read_model(choice, language)
        origin = f"model {choice.name}"
    abbreviations = punkt_model.add_curated(known, language) if curated else NONE
    made_of = punkt_model.versions(package=curated or choice == "published")
    lists = ""
    if curated:
        always, _ = curated_abbreviations(language)
        lists = f", with curated abbreviations{'' if always else ' before numbers alone'}"
    provenance = f"{origin}{lists} ({made_of}, parameters {punkt_model.digest(known, abbreviations)[:16]})"
    return Segmenter(Punkt(known, abbreviations), provenance)


def _with_blanks(text: str) -> str:
    """The text as Punkt reads it, character for character."""
    return text if text.isascii() else OTHER_SPACES.sub(" ", text)


def _joined(paragraphs: Iterable[str], limit: int) -> tuple[str, int]:
    """Whole paragraphs until they have `limit` characters, as Punkt reads them; and how many they have."""
    chosen: list[str] = []
    characters = 0
    for paragraph in paragraphs:
        if characters >= limit:
            break
        chosen.append(_with_blanks(paragraph))
        characters += len(paragraph)
    if not characters:
        raise InputError("segmentation", "there is no text to train Punkt on")
    return "\n\n".join(chosen), characters
