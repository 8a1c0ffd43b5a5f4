"""From a folder of text to token ids, by the scripts that DVC runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.params import load
from pipeline.params.yaml_file import read_yaml
from quartet.errors import InputError
from quartet.files import read_json, sha256
from stages.download import download
from stages.encode import encode
from stages.segment import segment
from stages.tokenizer import tokenizer

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
    return Layout(load().experiment)


def run_all() -> None:
    """Every stage from the source to the ids."""
    download("wikipedia-sample")
    segment("wikipedia-sample")
    tokenizer("wordpiece-1k")
    encode("wikipedia-sample", "wordpiece-1k")


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
