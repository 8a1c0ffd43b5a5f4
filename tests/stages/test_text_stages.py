"""From a folder of text to token ids, by the scripts that DVC runs."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.settings import read_params
from quartet.config.loading import read_yaml
from quartet.errors import InputError
from quartet.files import read_json, sha256
from quartet.text import resumable_work, segmentation
from quartet.text.documents import Draft, read_segmented
from quartet.text.plain import DOCUMENT_LINES
from quartet.text.pretrained_vocabulary import read_vocabulary
from quartet.text.segmentation import DocumentLine, SegmentDrafts
from quartet.text.tokenizer import TextTokenizer
from stages.download import download
from stages.encode import encode
from stages.segment import segment
from stages.tokenizer import tokenizer
from tests.bert import save_bert_tokenizer

PARAGRAPH = "The ferry left at noon. Nobody on board had seen the fog bank coming, not even the pilot.\n\n"


@pytest.fixture
def layout(workspace: Path) -> Layout:
    """The preset tiny over six short documents of our own."""
    books = workspace / "books"
    books.mkdir()
    for number in range(6):
        (books / f"{number}.txt").write_text(f"Chapter {number}. " + PARAGRAPH * (number + 2))
    path = workspace / "params.yaml"
    text = path.read_text()
    corpus = text[text.index("    kind: wikipedia") : text.index("    language:")]
    text = text.replace(corpus, "    kind: text\n    source: books\n    sha256: null\n").replace(
        "1000", "120"
    )
    path.write_text(text)
    return Layout(read_params().experiment)


def run_all() -> None:
    """Every stage from the source to the ids."""
    download("wikipedia-sample")
    segment("wikipedia-sample")
    tokenizer("wordpiece-1k")
    encode("wikipedia-sample", "wordpiece-1k")


def test_a_berts_vocabulary_takes_the_place_of_a_trained_one(layout: Layout, workspace: Path) -> None:
    save_bert_tokenizer(workspace / "bert")
    path = workspace / "params.yaml"
    entry = (
        "{kind: wordpiece, corpus: wikipedia-sample, vocab_size: 120, lowercase: true, strip_accents: true}"
    )
    text = path.read_text()
    assert entry in text
    path.write_text(text.replace(entry, "{kind: pretrained, corpus: wikipedia-sample, source: bert}"))
    run_all()
    folder = layout.tokenizer("wordpiece-1k")
    assert TextTokenizer.load(folder / TOKENIZER).encode("the cat") == read_vocabulary(
        workspace / "bert"
    ).encode("the cat")
    made = read_json(folder / MANIFEST)
    assert (made["kind"], made["source"], made["sha256"]) == (
        "pretrained",
        "bert",
        sha256(folder / TOKENIZER),
    )
    assert (
        read_json(layout.encoded("wikipedia-sample", "wordpiece-1k") / MANIFEST)["splits"]["train"]["tokens"]
        > 100
    )


def contents(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder, timings apart."""
    return {
        path.relative_to(folder).as_posix(): sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "timings" not in path.parts
    }


def test_text_becomes_ids_and_every_step_says_what_it_made(layout: Layout) -> None:
    run_all()
    raw, segments = read_json(layout.raw("wikipedia-sample") / MANIFEST), layout.segments("wikipedia-sample")
    assert raw["files"] == 6
    counts = read_json(segments / MANIFEST)["splits"]
    assert {split: counts[split]["documents"] for split in ("train", "valid", "test")} == {
        "train": 4,
        "valid": 1,
        "test": 1,
    }
    made = read_json(layout.tokenizer("wordpiece-1k") / MANIFEST)
    assert made["sha256"] == sha256(layout.tokenizer("wordpiece-1k") / TOKENIZER)
    assert made["trained_on"]["sha256"] == sha256(segments / "train.jsonl")
    encoded = read_json(layout.encoded("wikipedia-sample", "wordpiece-1k") / MANIFEST)
    assert encoded["splits"]["train"]["tokens"] > 100
    inputs = {f"{split}.jsonl": part["input"] for split, part in encoded["splits"].items()}
    assert inputs == read_json(segments / MANIFEST)["sha256"], "made from these very segments"
    assert {part["tokenizer"]["sha256"] for part in encoded["splits"].values()} == {made["sha256"]}


def test_wikitext_keeps_its_splits_and_its_words(layout: Layout, workspace: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "fixtures" / "text" / "wikitext", workspace / "wikitext")
    path = workspace / "params.yaml"
    changes = {
        "kind: text": "kind: wikitext",
        "source: books": "source: wikitext",
        "split: {valid: 0.1, test: 0.1}": "split: given",
        "kind: wordpiece, corpus: wikipedia-sample, vocab_size: 120, lowercase: true, strip_accents: true": (
            "kind: whitespace, corpus: wikipedia-sample, vocab_size: 120, lowercase: false"
        ),
    }
    text = path.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    run_all()
    segments = read_json(layout.segments("wikipedia-sample") / MANIFEST)["splits"]
    encoded = read_json(layout.encoded("wikipedia-sample", "wordpiece-1k") / MANIFEST)["splits"]
    for split, documents in (("train", 2), ("valid", 1), ("test", 2)):
        words = (workspace / "wikitext" / f"wiki.{split}.tokens").read_text(encoding="utf-8").split()
        assert segments[split]["documents"] == encoded[split]["documents"] == documents
        assert segments[split]["words"] == encoded[split]["tokens"] == len(words)


def change(workspace: Path, old: str, new: str) -> None:
    """Another setting."""
    path = workspace / "params.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_folder_as_the_hub_has_it_is_a_corpus(layout: Layout, workspace: Path) -> None:
    rows = [
        {"page": f"Chapter {number}. " + PARAGRAPH * (number + 2), "name": f"No. {number}"}
        for number in range(6)
    ]
    (workspace / "rows").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), workspace / "rows" / "train-00000-of-00001.parquet")
    change(
        workspace,
        "kind: text\n    source: books",
        "kind: {name: hub, text: page, title: name}\n    source: rows",
    )
    run_all()
    found = list(read_segmented(layout.segments("wikipedia-sample") / "train.jsonl"))
    assert len(found) == 4
    assert all(one.title == f"No. {int(one.id.removeprefix('train/')) - 1}" for one in found)
    assert {len(one.paragraphs) for one in found} <= set(range(2, 8))


def test_a_compressed_file_of_sentences_is_a_corpus(layout: Layout, workspace: Path) -> None:
    lines = [f"THE FERRY LEFT AT {number}" for number in range(5 * DOCUMENT_LINES)]
    (workspace / "lm.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    change(workspace, "kind: text\n    source: books", "kind: lines\n    source: lm.txt.gz")
    run_all()
    counts = read_json(layout.segments("wikipedia-sample") / MANIFEST)["splits"]
    assert {split: counts[split]["sentences"] // DOCUMENT_LINES for split in counts} == {
        "train": 3,
        "valid": 1,
        "test": 1,
    }


def test_a_segmentation_that_was_stopped_goes_on(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resumable_work, "SHARD_ITEMS", 2)
    monkeypatch.setattr(segmentation, "BATCH_CHARACTERS", 1)
    download("wikipedia-sample")
    work = SegmentDrafts.__call__
    done: list[Sequence[Draft]] = []

    def call(self: SegmentDrafts, part: Sequence[Draft]) -> list[DocumentLine]:
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(part)
        return work(self, part)

    monkeypatch.setattr(SegmentDrafts, "__call__", call)
    with pytest.raises(KeyboardInterrupt):
        segment("wikipedia-sample")
    assert len(list((layout.artifacts / "resume").rglob("*.npz"))) == 2
    done.clear()
    segment("wikipedia-sample")
    assert len(done) == 2, "the last two of six"
    assert not list((layout.artifacts / "resume").rglob("*.npz"))


def test_a_cluster_that_is_not_there_is_a_line(layout: Layout, workspace: Path) -> None:
    download("wikipedia-sample")
    path = workspace / "params.yaml"
    path.write_text(path.read_text() + "\nexecutor: {kind: dask, address: nowhere}\n")
    with pytest.raises(InputError, match=r"nowhere: (no Dask scheduler answers|.* Dask is not installed)"):
        segment("wikipedia-sample")


def test_the_same_source_gives_the_same_bytes(layout: Layout) -> None:
    run_all()
    first = contents(layout.artifacts)
    run_all()
    assert contents(layout.artifacts) == first
    assert len(first) >= 12


def test_a_missing_source_is_named_and_leaves_nothing(layout: Layout, workspace: Path) -> None:
    (workspace / "books").rename(workspace / "texts")
    with pytest.raises(InputError, match="books: no such file or folder"):
        download("wikipedia-sample")
    assert not layout.raw("wikipedia-sample").exists()


@pytest.mark.parametrize("stage", [download, segment, tokenizer])
def test_an_unknown_variant_is_named(workspace: Path, stage: object) -> None:
    assert callable(stage)
    with pytest.raises(InputError, match="has no entry 'nothing'"):
        stage("nothing")


def test_the_settings_of_the_fixture_are_settings(layout: Layout, workspace: Path) -> None:
    assert read_yaml(workspace / "params.yaml")["tokenizers"]["wordpiece-1k"]["vocab_size"] == 120
