"""Sentences: Punkt trained and ready-made, the way from one to the other, and whole corpora."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import InputError
from quartet.text import segments
from quartet.text.documents import Document, Paragraph, SegmentedParagraph
from quartet.text.segments import Segmenter, load_segmenter
from quartet.text.split import Shares
from tests.text import corpus

FIXTURES = Path(__file__).parents[1] / "fixtures" / "text"
SHARES = Shares(0.2, 0.2)


def text() -> Iterator[str]:
    return (p.text for document in corpus.documents(30) for p in document.paragraphs if not p.heading)


@pytest.fixture
def no_punkt_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the ready model and without a network."""
    monkeypatch.setattr(segments, "_installed", lambda language: (None, "is not installed"))
    monkeypatch.setattr(segments, "_download", lambda: False)


def test_trained_punkt_knows_the_abbreviations_of_its_text() -> None:
    segmenter = load_segmenter("trained", "english", text)
    assert segmenter.provenance.startswith("trained on 3")
    assert "characters of the corpus (NLTK " in segmenter.provenance
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


def test_auto_takes_the_ready_model_where_it_is() -> None:
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        PunktTokenizer("english")
    except LookupError:
        pytest.skip("NLTK's punkt_tab is not installed")
    segmenter = load_segmenter("auto", "english", lambda: iter(()))
    assert segmenter.provenance.startswith("punkt_tab, english (NLTK ")
    assert segmenter.sentences("Mr. Hale lives in Washington, D.C. now. He eats.")[1:] == ["He eats."]


@pytest.mark.usefixtures("no_punkt_tab")
def test_auto_trains_where_the_ready_model_cannot_be_had() -> None:
    assert load_segmenter("auto", "english", text).provenance.startswith("trained on")


@pytest.mark.usefixtures("no_punkt_tab")
def test_asking_for_a_ready_model_that_cannot_be_had_is_an_error() -> None:
    with pytest.raises(InputError, match=r"punkt_tab, english: is not installed.*nltk\.downloader"):
        load_segmenter("punkt_tab", "english", text)


def test_a_download_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk

    monkeypatch.setattr(segments, "DOWNLOAD_SECONDS", 0.1)
    monkeypatch.setattr(nltk, "download", lambda *args, **kwargs: time.sleep(2))
    start = time.monotonic()
    assert not segments._download()
    assert time.monotonic() - start < 1


def test_a_download_that_fails_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import nltk

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(nltk, "download", fail)
    assert not segments._download()
    assert capsys.readouterr() == ("", "")


def test_a_damaged_ready_model_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nltk

    (tmp_path / "tokenizers").mkdir()
    (tmp_path / "tokenizers" / "punkt_tab.zip").write_bytes(b"not a zip file")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(segments, "_download", lambda: False)
    assert load_segmenter("auto", "english", text).provenance.startswith("trained on")
    with pytest.raises(InputError, match="is damaged"):
        load_segmenter("punkt_tab", "english", text)


def test_no_text_to_train_on_is_an_error() -> None:
    with pytest.raises(InputError, match="no text to train Punkt on"):
        load_segmenter("trained", "english", lambda: iter(()))
