"""Whole corpora: split, counted, the same bytes whatever the number of processes, and nothing after a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text import encoding, parallel, segmentation
from quartet.text.documents import Document, read_segmented
from quartet.text.encoding import encode_corpus
from quartet.text.plain import read_text
from quartet.text.segmentation import segment_corpus, source_sha256
from quartet.text.split import SPLITS, HeldOutShares
from quartet.text.tokenizer import train_tokenizer
from quartet.text.wikipedia import read_wikipedia
from tests.text import corpus

FIXTURES = Path(__file__).parents[1] / "fixtures" / "text"
SHARES = HeldOutShares(0.2, 0.2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text("10")
    return path


def test_a_corpus_is_split_whole_and_counted(source: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    out = tmp_path / "segmented"
    manifest = segment_corpus(
        corpus.reader, source, out, shares=SHARES, punkt="trained", advance=lambda: seen.append(1)
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

    segment_corpus(reader, source, tmp_path / "all", shares=SHARES, punkt="trained")
    few = segment_corpus(
        reader, source, tmp_path / "few", shares=SHARES, punkt="trained", training_characters=500
    )
    assert len(opened) == 2
    assert few["splits"]["train"]["documents"] == 6  # what training read is not lost


def test_limit_reads_only_the_first_documents(source: Path, tmp_path: Path) -> None:
    manifest = segment_corpus(
        corpus.reader, source, tmp_path / "out", shares=SHARES, punkt="trained", limit=4
    )
    assert sum(counts["documents"] for counts in manifest["splits"].values()) == 4


def test_folders_of_a_corpus_can_be_its_splits(tmp_path: Path) -> None:
    for split in SPLITS:
        (tmp_path / "books" / split).mkdir(parents=True)
        (tmp_path / "books" / split / "a.txt").write_text(f"It is for {split}. It is short.")
    manifest = segment_corpus(read_text, tmp_path / "books", tmp_path / "out", shares=None, punkt="trained")
    assert [manifest["splits"][split]["sentences"] for split in SPLITS] == [2, 2, 2]
    assert "for valid" in (tmp_path / "out" / "valid.jsonl").read_text()


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes after the first part, and few documents a part."""
    monkeypatch.setattr(parallel, "PATIENCE", 0.0)
    monkeypatch.setattr(segmentation, "BATCH_CHARACTERS", 500)
    monkeypatch.setattr(encoding, "BATCH_BYTES", 500)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_the_size_of_the_parts_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = train_tokenizer("wordpiece", corpus.sentences(300, seed=2), 200, lowercase=True)
    (tmp_path / "source").write_text("30")
    found = []
    for size in (1, 700, 1 << 20):
        monkeypatch.setattr(segmentation, "BATCH_CHARACTERS", size)
        monkeypatch.setattr(encoding, "BATCH_BYTES", size)
        out = tmp_path / str(size)
        segment_corpus(
            corpus.reader, tmp_path / "source", out / "segmented", shares=SHARES, punkt="trained", workers=1
        )
        encode_corpus(out / "segmented", tokenizer, out / "encoded", workers=1)
        found.append(contents(out))
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("many_parts")
def test_a_limit_ends_before_a_damaged_place(tmp_path: Path) -> None:
    cut = tmp_path / "cut.xml"
    cut.write_bytes((FIXTURES / "dump.xml").read_bytes()[:-40])
    out = tmp_path / "out"
    with pytest.raises(InputError, match="1 documents cannot be split"):
        segment_corpus(
            read_wikipedia, cut, out, shares=SHARES, punkt="trained", training_characters=9, limit=1
        )


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    segment_corpus(read_text, FIXTURES / "prose", out, shares=SHARES, punkt="trained")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    cut = tmp_path / "cut.xml"
    cut.write_bytes((FIXTURES / "dump.xml").read_bytes()[:-40])
    with pytest.raises(InputError, match="cut short"):
        segment_corpus(read_wikipedia, cut, out, shares=SHARES, punkt="trained")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.xml", "out"]


def test_of_a_new_reader_s_folder_all_files_count(tmp_path: Path) -> None:
    """Else an edit of what it reads would not restart a segmentation that was stopped."""
    folder = tmp_path / "source"
    folder.mkdir()
    sums = set()
    for text in ("10", "11"):
        (folder / "size.other").write_text(text)
        made = segment_corpus(
            lambda path: corpus.reader(path / "size.other"),
            folder,
            tmp_path / "out",
            shares=SHARES,
            punkt="trained",
        )
        sums.add(made["source"]["sha256"])
    assert len(sums) == 2


def test_the_source_s_sum_covers_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    one = source_sha256(tmp_path)
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    two = source_sha256(tmp_path)
    (tmp_path / "b.txt").write_text("y")
    assert len({one, two, source_sha256(tmp_path)}) == 3
