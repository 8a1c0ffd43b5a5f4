"""Sentences: Punkt trained and ready-made, the way from one to the other, and whole corpora."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import InputError
from quartet.text import segments
from quartet.text.documents import Document, Paragraph, SegmentedParagraph, read_segmented
from quartet.text.plain import read_text
from quartet.text.segments import Segmenter, load_segmenter, segment_corpus
from quartet.text.split import SPLITS, Shares
from quartet.text.wikipedia import read_wikipedia
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
    segmenter = load_segmenter("train", "english", text)
    assert segmenter.provenance.startswith("trained on 3")
    assert "characters of the corpus (NLTK " in segmenter.provenance
    found = segmenter.sentences("They met Mr. Hale at noon. Dr. Moss left.  He was late!")
    assert found == ["They met Mr. Hale at noon.", "Dr. Moss left.", "He was late!"]


def test_sentences_joined_are_the_paragraph() -> None:
    segmenter = load_segmenter("train", "english", text)
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

    assert "trained on 1,024 characters" in load_segmenter("train", "english", endless, 1000).provenance
    assert len(read) < 40


def test_a_heading_is_one_sentence_and_empty_paragraphs_go() -> None:
    segmenter = load_segmenter("train", "english", text)
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
        load_segmenter("train", "english", lambda: iter(()))


# -- whole corpora --------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text("10")
    return path


def test_a_corpus_is_split_whole_and_counted(source: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    out = tmp_path / "segmented"
    manifest = segment_corpus(
        corpus.reader, source, out, shares=SHARES, punkt="train", advance=lambda: seen.append(1)
    )
    assert len(seen) == 10
    assert json.loads((out / "manifest.json").read_text()) == manifest
    assert sorted(path.name for path in out.iterdir()) == [
        "manifest.json",
        *sorted(f"{s}.jsonl" for s in SPLITS),
    ]
    read = {split: list(read_segmented(out / f"{split}.jsonl")) for split in SPLITS}
    assert {split: len(documents) for split, documents in read.items()} == {"train": 6, "valid": 2, "test": 2}
    together = sorted((document for part in read.values() for document in part), key=lambda d: int(d.id))
    for document, original in zip(together, corpus.documents(10), strict=True):
        assert document.title == original.title
        assert [" ".join(p.sentences) for p in document.paragraphs] == [p.text for p in original.paragraphs]
    counted = manifest["splits"]["valid"]
    assert counted["documents"] == 2
    assert counted["headings"] == 2
    assert counted["paragraphs"] == 14
    assert counted["sentences"] == sum(len(p.sentences) for d in read["valid"] for p in d.paragraphs)
    assert counted["words"] == sum(document.words for document in read["valid"])
    assert counted["characters"] == sum(len(s) for document in read["valid"] for s in document.sentences)
    assert manifest["source"]["name"] == "source.txt"
    assert len(manifest["source"]["sha256"]) == 64


def test_the_source_is_read_once_even_to_train(source: Path, tmp_path: Path) -> None:
    opened = []

    def reader(path: Path) -> Iterator[Document]:
        opened.append(path)
        return corpus.reader(path)

    segment_corpus(reader, source, tmp_path / "all", shares=SHARES, punkt="train")
    few = segment_corpus(
        reader, source, tmp_path / "few", shares=SHARES, punkt="train", training_characters=500
    )
    assert len(opened) == 2
    assert few["splits"]["train"]["documents"] == 6  # what training read is not lost


def test_limit_reads_only_the_first_documents(source: Path, tmp_path: Path) -> None:
    manifest = segment_corpus(corpus.reader, source, tmp_path / "out", shares=SHARES, punkt="train", limit=4)
    assert sum(counts["documents"] for counts in manifest["splits"].values()) == 4


def test_folders_of_a_corpus_can_be_its_splits(tmp_path: Path) -> None:
    for split in SPLITS:
        (tmp_path / "books" / split).mkdir(parents=True)
        (tmp_path / "books" / split / "a.txt").write_text(f"It is for {split}. It is short.")
    manifest = segment_corpus(read_text, tmp_path / "books", tmp_path / "out", shares=None, punkt="train")
    assert [manifest["splits"][split]["sentences"] for split in SPLITS] == [2, 2, 2]
    assert "for valid" in (tmp_path / "out" / "valid.jsonl").read_text()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    segment_corpus(read_text, FIXTURES / "prose", out, shares=SHARES, punkt="train")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    cut = tmp_path / "cut.xml"
    cut.write_bytes((FIXTURES / "dump.xml").read_bytes()[:-40])
    with pytest.raises(InputError, match="cut short"):
        segment_corpus(read_wikipedia, cut, out, shares=SHARES, punkt="train")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.xml", "out"]


def test_the_source_s_sum_covers_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    one = segments.source_sha256(tmp_path)
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    two = segments.source_sha256(tmp_path)
    (tmp_path / "b.txt").write_text("y")
    assert len({one, two, segments.source_sha256(tmp_path)}) == 3


SCRIPT = """
import sys
from pathlib import Path
from quartet.text.documents import SentencesOf
from quartet.text.encoded import encode_corpus
from quartet.text.segments import segment_corpus
from quartet.text.split import Shares
from quartet.text.tokenizer import train_tokenizer
from tests.text import corpus
source, out = Path(sys.argv[1]), Path(sys.argv[2])
segment_corpus(corpus.reader, source, out / "segmented", shares=Shares(0.2, 0.2), punkt="train")
tokenizer = train_tokenizer("wordpiece", SentencesOf(out / "segmented" / "train.jsonl"), 200, lowercase=True)
tokenizer.save(out / "tokenizer.json")
encode_corpus(out / "segmented", tokenizer, out / "encoded")
"""


def test_every_byte_is_the_same_in_another_process(source: Path, tmp_path: Path) -> None:
    found = []
    root = Path(__file__).parents[2]
    for seed in ("1", "2"):
        out = tmp_path / seed
        path = os.pathsep.join([str(root / "src"), str(root)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        subprocess.run([sys.executable, "-c", SCRIPT, str(source), str(out)], check=True, env=environment)
        found.append({p.relative_to(out): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()})
    assert len(found[0]) == 4 + 1 + 4
    assert found[0] == found[1]
