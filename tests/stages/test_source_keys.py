"""What every key moves of how text is cut and numbered, and of how N-best lists and sets are read."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from quartet.files import read_json
from quartet.text.tokenizer import TextTokenizer
from tests.stages.world import CORPUS, LAYOUT, TOKENIZER_NAME, World, all_different

#: Sentences that Punkt's models of English and German, and the curated abbreviations, cut in different ways.
PAGE = (
    "Er kam bzw. Sie kam am 3. Mai. The Heron saw No. 5 there. Mr. Miller left. Frau Dr. Weber blieb. "
    "It was Co. Lane at St. Ives, e.g. Monday.\n\n"
)


@pytest.fixture
def books(world: World) -> World:
    """A folder of ten documents, in which each has a sentence of its own, as the corpus."""
    (world.folder / "books").mkdir()
    for number in range(10):
        text = f"Chapter {number} {'x' * number}. " + PAGE * 2
        (world.folder / "books" / f"{number}.txt").write_text(text, encoding="utf-8")
    other = world.folder / "elsewhere" / "books"
    shutil.copytree(world.folder / "books", other)
    (other / "0.txt").write_text("Another book lies here. It is short.", encoding="utf-8")
    return world


CORPORA: dict[str, Any] = {
    f"corpora__{CORPUS}": {
        "kind": "text",
        "source": "books",
        "sha256": None,
        "language": "english",
        "license": "made up",
        "split": {"valid": 0.2, "test": 0.2},
        "limit": 0,
    },
    "segmentation": {"punkt": "published", "curated": True},
    "data__root": ".",
    "workers": 1,
}
OTHER_CORPORA: dict[str, Any] = {
    f"corpora__{CORPUS}__source": "elsewhere/books",
    f"corpora__{CORPUS}__language": "german",
    f"corpora__{CORPUS}__split__valid": 0.4,
    f"corpora__{CORPUS}__split__test": 0.4,
    f"corpora__{CORPUS}__limit": 7,
    "segmentation__punkt": "trained",
    "segmentation__curated": False,
    "data__root": "elsewhere",
}


def test_every_key_of_a_corpus_moves_its_sentences(books: World) -> None:
    def run() -> list[str]:
        books.start("download", CORPUS)
        books.start("segment", CORPUS)
        folder = LAYOUT.segments(CORPUS)
        return [
            (folder / f"{split}.jsonl").read_text(encoding="utf-8") for split in ("train", "valid", "test")
        ]

    found = books.moved(run, CORPORA, OTHER_CORPORA)
    all_different(found)
    counts = {key: [text.count("\n") for text in texts] for key, texts in found.items()}
    assert counts[""] == [6, 2, 2]
    assert sum(counts[f"corpora__{CORPUS}__limit"]) == 7
    assert counts[f"corpora__{CORPUS}__split__valid"] == [4, 4, 2]
    assert counts[f"corpora__{CORPUS}__split__test"] == [4, 2, 4]


TOKENIZERS: dict[str, Any] = {
    f"tokenizers__{TOKENIZER_NAME}": {
        "kind": "wordpiece",
        "corpus": CORPUS,
        "vocab_size": 165,
        "lowercase": True,
    }
}
OTHER_TOKENIZERS: dict[str, Any] = {
    f"tokenizers__{TOKENIZER_NAME}__kind": "word",
    f"tokenizers__{TOKENIZER_NAME}__corpus": "other",
    f"tokenizers__{TOKENIZER_NAME}__vocab_size": 160,
    f"tokenizers__{TOKENIZER_NAME}__lowercase": False,
}


def test_every_key_of_a_tokenizer_moves_its_vocabulary_and_the_ids(books: World) -> None:
    books.set(**CORPORA)
    books.set(corpora__other={**CORPORA[f"corpora__{CORPUS}"], "source": "elsewhere/books", "limit": 3})
    for corpus in (CORPUS, "other"):
        books.start("download", corpus)
        books.start("segment", corpus)

    def run() -> tuple[str, Any]:
        books.start("tokenizer", TOKENIZER_NAME)
        books.start("encode", CORPUS, TOKENIZER_NAME)
        made = TextTokenizer.load(LAYOUT.tokenizer(TOKENIZER_NAME) / "tokenizer.json")
        manifest = read_json(LAYOUT.encoded(CORPUS, TOKENIZER_NAME) / "manifest.json")
        assert {part["tokenizer"]["sha256"] for part in manifest["splits"].values()} == {made.sha256}
        return made.to_json(), manifest["splits"]

    all_different({key: text for key, (text, _) in books.moved(run, TOKENIZERS, OTHER_TOKENIZERS).items()})


LISTS = "nbest__sample-speech"


def nemo(scores: list[float]) -> str:
    return "".join(f"a cat {number}\t{score}\n" for number, score in enumerate(scores))


@pytest.fixture
def lists(world: World) -> World:
    """Six hypotheses without names, two lists of three or three of two, with references for three."""
    for folder in ("lists", "elsewhere/lists", "lists/more"):
        place = world.folder / folder
        place.mkdir(parents=True, exist_ok=True)
        last = -9.0 if folder == "lists" else -6.0
        for split in ("dev", "test"):
            (place / f"{split}.tsv").write_text(nemo([-1.0, -2.0, -3.0, -4.0, -5.0, last]))
            (place / f"{split}.other.tsv").write_text(nemo([-1.5, -2.0, -3.0, -4.0, -5.0, -7.0]))
            (place / f"{split}.json").write_text(json.dumps(dict.fromkeys("123", "a cat")))
            (place / f"{split}.other.json").write_text(json.dumps(dict.fromkeys("123", "a dog")))
    return world


def files(split: str, **other: str) -> dict[str, Any]:
    return {"hypotheses": f"{split}.tsv", "references": f"{split}.json", **other}


NBEST: dict[str, Any] = {
    LISTS: {
        "format": "nemo",
        "folder": "lists",
        "dev": files("dev"),
        "test": files("test"),
        "metric": "wer",
        "normalise": {"lowercase": True, "strip_punctuation": True},
        "beam": 3,
        "hypotheses": None,
        "skip_missing": False,
        "scores_are": None,
    },
    "data__root": ".",
    "workers": 1,
}
OTHER_NBEST: dict[str, Any] = {
    f"{LISTS}__folder": "lists/more",
    f"{LISTS}__dev__hypotheses": "dev.other.tsv",
    f"{LISTS}__dev__references": "dev.other.json",
    f"{LISTS}__test__hypotheses": "test.other.tsv",
    f"{LISTS}__test__references": "test.other.json",
    f"{LISTS}__beam": 2,
    f"{LISTS}__hypotheses": 1,
    f"{LISTS}__skip_missing": True,
    f"{LISTS}__scores_are": "costs",
    "data__root": "elsewhere",
}


def test_every_key_of_a_set_of_lists_moves_the_lists(lists: World) -> None:
    def run() -> list[str]:
        lists.start("nbest", "sample-speech")
        folder = LAYOUT.nbest("sample-speech")
        return [(folder / f"{split}.jsonl").read_text(encoding="utf-8") for split in ("dev", "test")]

    found = lists.moved(run, NBEST, OTHER_NBEST)
    all_different(found)
    for split, other in itertools.permutations(("dev", "test")):
        for role in ("hypotheses", "references"):
            changed = dict(zip(("dev", "test"), found[f"{LISTS}__{split}__{role}"], strict=True))
            assert changed[other] == dict(zip(("dev", "test"), found[""], strict=True))[other]


@pytest.mark.parametrize("bleu", [{}, {"lowercase": True}, {"tokenize": "char"}])
def test_the_signature_of_bleu_is_that_of_its_settings(lists: World, bleu: dict[str, Any]) -> None:
    lists.set(**{**NBEST, f"{LISTS}__metric": "bleu", f"{LISTS}__bleu": bleu})
    lists.start("nbest", "sample-speech")
    said = read_json(LAYOUT.nbest("sample-speech") / "manifest.json")["bleu"]
    assert ("case:lc" in said) == ("lowercase" in bleu)
    assert f"tok:{bleu.get('tokenize', '13a')}" in said


@pytest.mark.parametrize("root", [".", "elsewhere"])
def test_the_files_of_a_set_lie_below_the_root(world: World, root: str) -> None:
    for folder, score in ((".", 3), ("elsewhere", 4)):
        (world.folder / folder).mkdir(exist_ok=True)
        (world.folder / folder / "pairs.tsv").write_text(f"cat\tdog\t{score}\n")
    source = {"source": "pairs.tsv", "sha256": None}
    task = {"kind": "word-similarity", "license": "made up", "files": {"pairs": source}}
    world.set(tasks__words=task, data__root=root)
    world.start("tasks")
    text = Path(LAYOUT.task("word-similarity", "words") / "pairs").read_text()
    assert text.split() == ["cat", "dog", {".": "3", "elsewhere": "4"}[root]]
    assert json.loads((LAYOUT.task("word-similarity", "words") / "manifest.json").read_text())["items"] == 1
