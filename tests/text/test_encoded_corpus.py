"""Encoded corpora: every boundary where it belongs, flat arrays from disk, damage noticed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from quartet.errors import InputError
from quartet.files import sha256, write_jsonl
from quartet.text import encoding
from quartet.text.documents import SegmentedDocument, SegmentedParagraph
from quartet.text.encoded_corpus import EncodedCorpus, JoinedIds
from quartet.text.encoding import encode_corpus
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from tests.text import corpus


def _paragraph(*sentences: str, heading: bool = False) -> SegmentedParagraph:
    return SegmentedParagraph(sentences, heading)


DOCUMENTS = [
    SegmentedDocument(
        "a",
        "First",
        (
            _paragraph("The harbour", heading=True),
            _paragraph("She walked.", "\u200b", "He slept near the mill."),
            _paragraph("\u00ad", heading=True),  # no token is left of it
            _paragraph("They left."),
        ),
    ),
    SegmentedDocument("none", "Nothing", (_paragraph("\u200b"),)),
    SegmentedDocument("b", "Second", (_paragraph("The zebra\tqqq left."), _paragraph("He slept."))),
]
SENTENCES = [
    "The harbour",
    "She walked.",
    "He slept near the mill.",
    "They left.",
    "The zebra qqq left.",
    "He slept.",
]


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return train_tokenizer("word", corpus.sentences(300, seed=2), 100, lowercase=True)


@pytest.fixture
def segmented(tmp_path: Path) -> Path:
    folder = tmp_path / "segmented"
    for split in ("train", "valid", "test"):
        write_jsonl(folder / f"{split}.jsonl", [document.to_json() for document in DOCUMENTS])
    return folder


def test_ids_of_several_record_batches_are_one_sequence() -> None:
    whole = np.arange(11, dtype=np.uint16)
    joined = JoinedIds([whole[:4], whole[4:5], whole[5:]])
    assert (len(joined), joined.min(), joined.max()) == (11, 0, 10)
    assert joined.dtype == np.uint16
    for start in range(13):
        for stop in range(13):
            assert joined[start:stop].tolist() == whole[start:stop].tolist()
    assert joined[5:9].base is not None, "a view"
    assert np.asarray(joined).tolist() == joined[:].tolist() == whole.tolist()
    assert np.asarray(joined, dtype=np.int64).dtype == np.int64


@pytest.mark.parametrize("batch_tokens", [1, 1 << 22])
def test_boundaries_are_where_the_sentences_are(
    segmented: Path,
    tokenizer: TextTokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    batch_tokens: int,
) -> None:
    monkeypatch.setattr(encoding, "BATCH_TOKENS", batch_tokens)  # 1: a record batch a document
    encode_corpus(segmented, tokenizer, tmp_path / "encoded")
    opened = EncodedCorpus.open(tmp_path / "encoded", "valid")
    assert len(opened) == len(SENTENCES)
    assert [opened.sentence(i).tolist() for i in range(len(opened))] == tokenizer.encode_batch(SENTENCES)
    assert opened.ids.dtype == np.uint16
    assert np.asarray(opened.ids).tolist() == [
        token for ids in tokenizer.encode_batch(SENTENCES) for token in ids
    ]
    assert opened.sentence_paragraphs.tolist() == [0, 1, 1, 2, 0, 1]
    assert opened.sentence_words.tolist() == [2, 2, 5, 2, 4, 2]
    assert opened.sentence_headings.tolist() == [True, False, False, False, False, False]
    assert opened.document_offsets.tolist() == [0, 4, 6]
    assert opened.doc_ids == ("a", "b")
    assert opened.sentence_offsets.dtype == opened.document_offsets.dtype == np.int64
    assert isinstance(opened.ids, JoinedIds) == (batch_tokens == 1)
    for place in opened.sentence_offsets[:-1]:
        assert not opened.ids[place : place + 1].flags.owndata, "ids stay on disk"


def test_the_manifest_counts_what_was_written(
    segmented: Path, tokenizer: TextTokenizer, tmp_path: Path
) -> None:
    seen: list[int] = []
    manifest = encode_corpus(segmented, tokenizer, tmp_path / "encoded", advance=lambda: seen.append(1))
    assert len(seen) == 3 * len(DOCUMENTS)
    assert json.loads((tmp_path / "encoded" / "manifest.json").read_text()) == manifest
    tokenizer.save(tmp_path / "tokenizer.json")
    ids = [token for sentence in tokenizer.encode_batch(SENTENCES) for token in sentence]
    assert json.loads((tmp_path / "encoded" / "test.json").read_text()) == manifest["splits"]["test"]
    assert manifest["splits"]["test"] == {
        "version": 1,
        "input": sha256(segmented / "test.jsonl"),
        "tokenizer": {"sha256": tokenizer.sha256, "vocab_size": tokenizer.vocab_size},
        "documents": 2,
        "sentences": 6,
        "words": 17,
        "tokens": len(ids),
        "unknown": 2,
        "unknown_share": 2 / len(ids),
    }


def test_datasets_opens_the_same_file(segmented: Path, tokenizer: TextTokenizer, tmp_path: Path) -> None:
    from datasets import Dataset

    encode_corpus(segmented, tokenizer, tmp_path / "encoded")
    rows = Dataset.from_file(str(tmp_path / "encoded" / "train.arrow"))
    assert rows["doc_id"] == ["a", "b"]
    assert rows[0]["ids"] == [token for ids in tokenizer.encode_batch(SENTENCES[:4]) for token in ids]
    assert rows[1]["sentence_lengths"] == [5, 3]
    assert rows[0]["sentence_headings"] == [True, False, False, False]


def test_a_large_vocabulary_needs_four_bytes(segmented: Path, tmp_path: Path) -> None:
    many = [f"w{number}" for number in range(66_000)] + ["She walked."] * 3
    large = train_tokenizer("word", many, 70_000, lowercase=True)
    encode_corpus(segmented, large, tmp_path / "encoded")
    opened = EncodedCorpus.open(tmp_path / "encoded", "train")
    assert opened.ids.dtype == np.int32
    assert opened.sentence(1).tolist() == large.encode("She walked.")


def test_the_same_input_gives_the_same_bytes(
    segmented: Path, tokenizer: TextTokenizer, tmp_path: Path
) -> None:
    written = []
    for name in ("one", "two"):
        encode_corpus(segmented, tokenizer, tmp_path / name)
        written.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert written[0] == written[1]


def test_another_test_document_changes_no_file_of_the_other_splits(
    segmented: Path, tokenizer: TextTokenizer, tmp_path: Path
) -> None:
    """A training depends on these alone: see `pretrain` in dvc.yaml."""
    read = [f"{split}.{kind}" for split in ("train", "valid") for kind in ("arrow", "json")]
    written = []
    for name in ("one", "two"):
        encode_corpus(segmented, tokenizer, tmp_path / name)
        written.append([(tmp_path / name / file).read_bytes() for file in read])
        write_jsonl(segmented / "test.jsonl", [DOCUMENTS[0].to_json()])
    assert written[0] == written[1]
    tests = [(tmp_path / name / "test.json").read_bytes() for name in ("one", "two")]
    assert tests[0] != tests[1]


@pytest.mark.parametrize("share", [0, 0.3, 0.9, 0.99])
def test_a_truncated_file_is_named(
    segmented: Path, tokenizer: TextTokenizer, tmp_path: Path, share: float
) -> None:
    encode_corpus(segmented, tokenizer, tmp_path / "encoded")
    path = tmp_path / "encoded" / "train.arrow"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(InputError, match=r"train\.arrow: .*encode the corpus again"):
        EncodedCorpus.open(tmp_path / "encoded", "train")


def test_a_file_cut_between_two_batches_is_noticed(
    segmented: Path, tokenizer: TextTokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa

    monkeypatch.setattr(encoding, "BATCH_TOKENS", 1)
    encode_corpus(segmented, tokenizer, tmp_path / "encoded")
    path = tmp_path / "encoded" / "train.arrow"
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_stream(file)
        first, schema = reader.read_next_batch(), reader.schema
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        writer.write_batch(first)
    with pytest.raises(InputError, match="its manifest says"):
        EncodedCorpus.open(tmp_path / "encoded", "train")


def test_absent_files_and_splits_are_named(segmented: Path, tokenizer: TextTokenizer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"train\.json: no such file"):
        EncodedCorpus.open(tmp_path / "nowhere", "train")
    encode_corpus(segmented, tokenizer, tmp_path / "encoded")
    with pytest.raises(InputError, match=r"dev\.json: no such file"):
        EncodedCorpus.open(tmp_path / "encoded", "dev")
    (tmp_path / "encoded" / "valid.arrow").unlink()
    with pytest.raises(InputError, match=r"valid\.arrow: cannot be read"):
        EncodedCorpus.open(tmp_path / "encoded", "valid")


def test_a_split_without_a_token_is_refused(
    segmented: Path, tokenizer: TextTokenizer, tmp_path: Path
) -> None:
    write_jsonl(segmented / "test.jsonl", [DOCUMENTS[1].to_json()])
    with pytest.raises(InputError, match=r"test\.jsonl: has no token"):
        encode_corpus(segmented, tokenizer, tmp_path / "encoded")
    assert not (tmp_path / "encoded").exists()
    (segmented / "test.jsonl").unlink()
    with pytest.raises(InputError, match=r"test\.jsonl: no such file"):
        encode_corpus(segmented, tokenizer, tmp_path / "encoded")
