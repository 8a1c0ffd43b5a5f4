"""How well each choice of ``segmentation:`` finds hard sentence boundaries, as a block of docs/data.md (`make docs`).

Reads data/boundaries/english.jsonl, whose README.md has its format. A model that is trained is trained on the first
articles of the sample's Wikipedia, so that the table is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.fetch import package_file
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.files import read_jsonl
from quartet.report.run_report import grid
from quartet.text.segmenter import PunktChoice, Segmenter, load_segmenter
from quartet.text.wikipedia import read_wikipedia

GOLD = Path("data/boundaries/english.jsonl")
#: The preset whose only corpus the trained models are trained on, and how much of it.
PRESET, CHARACTERS = Path("presets/sample.yaml"), 500_000

CHOICES: dict[str, tuple[PunktChoice, bool]] = {
    "`published`": ("published", False),
    "`published`, `curated: true`": ("published", True),
    "`trained`": ("trained", False),
    "`trained`, `curated: true`": ("trained", True),
}


@dataclass(frozen=True)
class SentenceSequence:
    """Consecutive sentences.

    Attributes:
        kind: what makes their boundaries hard.
        between: the white space between two.
    """

    kind: str
    sentences: tuple[str, ...]
    between: str = " "

    @property
    def text(self) -> str:
        return self.between.join(self.sentences)

    @property
    def ends(self) -> set[int]:
        """The position after the last character of each sentence except the last."""
        place, found = 0, set()
        for sentence in self.sentences[:-1]:
            place += len(sentence)
            found.add(place)
            place += len(self.between)
        return found


@dataclass
class BoundaryErrors:
    """Of one choice: boundaries found, found where there is none (by kind of passage), and missed."""

    right: int = 0
    wrong: dict[str, int] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / max(1, self.right + sum(self.wrong.values()))

    @property
    def recall(self) -> float:
        """The share of the boundaries that was found."""
        return self.right / max(1, self.right + sum(self.missed.values()))


def passages(path: Path = GOLD) -> list[SentenceSequence]:
    """The passages of a file.

    Raises:
        InputError: a line is no passage.
    """
    found = []
    for number, row in read_jsonl(path):
        sentences = row.get("sentences")
        if (
            not isinstance(row.get("kind"), str)
            or not isinstance(sentences, list)
            or len(sentences) < 2
            or not all(isinstance(each, str) and each and each == each.strip() for each in sentences)
            or not str(row.get("between", " ")).isspace()
        ):
            raise InputError(f"{path}:{number}", "no passage", "see README.md beside it for the format")
        found.append(SentenceSequence(row["kind"], tuple(sentences), row.get("between", " ")))
    return found


def boundary_errors(segmenter: Segmenter, gold: list[SentenceSequence]) -> BoundaryErrors:
    """What a segmenter finds of the boundaries."""
    errors = BoundaryErrors()
    for passage in gold:
        found = {end for _, end in segmenter.spans(passage.text)[:-1]}
        errors.right += len(found & passage.ends)
        for kept, places in ((errors.wrong, found - passage.ends), (errors.missed, passage.ends - found)):
            kept[passage.kind] = kept.get(passage.kind, 0) + len(places)
    return errors


def articles() -> list[str]:
    """The paragraphs of the sample's first articles, of `CHARACTERS` characters and the rest of the last article."""
    (corpus,) = read_params(PRESET).corpora.values()
    paragraphs: list[str] = []
    size = 0
    for document in read_wikipedia(package_file(corpus.source)):
        paragraphs += [paragraph.text for paragraph in document.paragraphs if not paragraph.heading]
        size += sum(len(paragraph.text) for paragraph in document.paragraphs)
        if size >= CHARACTERS:
            break
    return paragraphs


def block() -> list[str]:
    """The lines between the two marks of docs/data.md."""
    gold, text = passages(), articles()

    def paragraphs() -> Iterator[str]:
        return iter(text)

    found: dict[str, BoundaryErrors] = {}
    counts: dict[str, int] = {}
    for name, (choice, curated) in CHOICES.items():
        segmenter = load_segmenter(choice, "english", paragraphs, CHARACTERS, curated)
        found[name] = boundary_errors(segmenter, gold)
        counts[name] = sum(len(segmenter.spans(paragraph)) for paragraph in text)
    boundaries = sum(len(passage.ends) for passage in gold)
    rows = [
        [
            name,
            f"{100 * errors.precision:.1f} %",
            f"{100 * errors.recall:.1f} %",
            str(sum(errors.wrong.values())),
            str(sum(errors.missed.values())),
            f"{counts[name]:,}",
        ]
        for name, errors in found.items()
    ]
    heads = ["`segmentation`", "precision", "recall", "wrong", "missed", "sentences of the articles"]
    kinds = list(dict.fromkeys(passage.kind for passage in gold))
    by_kind = [
        [
            kind,
            str(sum(len(passage.ends) for passage in gold if passage.kind == kind)),
            *(f"{errors.wrong[kind]} / {errors.missed[kind]}" for errors in found.values()),
        ]
        for kind in kinds
    ]
    return [
        f"{boundaries} boundaries; models are trained on the first {CHARACTERS:,} characters of the sample's articles:",
        "",
        *grid(heads, rows),
        "Wrong / missed, by what makes the boundaries hard:",
        "",
        *grid(["", "boundaries", *found], by_kind),
    ]
