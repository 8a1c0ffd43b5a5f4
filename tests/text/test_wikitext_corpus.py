"""WikiText: what opens an article, what is a heading, and that its words come back as they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text.documents import SentencesOf, read_segmented
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.encoding import encode_corpus
from quartet.text.segmentation import segment_corpus, source_sha256
from quartet.text.split import SPLITS
from quartet.text.tokenizer import train_tokenizer
from quartet.text.wikitext_corpus import ENDINGS, read_wikitext

FOLDER = Path(__file__).parents[1] / "fixtures" / "text" / "wikitext"


def words(split: str) -> list[str]:
    return (FOLDER / f"wiki.{split}.tokens").read_text(encoding="utf-8").split()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The fixture, to be broken."""
    return Path(shutil.copytree(FOLDER, tmp_path / "wikitext"))


def test_articles_are_opened_by_titles_in_the_order_of_the_files() -> None:
    documents = list(read_wikitext(FOLDER))
    assert [(document.id, document.title) for document in documents] == [
        ("train/1", "Old Mill Bridge"),
        ("train/2", "E = mc2 ( Hale album )"),
        ("valid/1", "Grey heron pond"),
        ("test/1", "No. 7 Lane"),
        ("test/2", "Reed Street"),
    ]


def test_headings_and_titles_are_paragraphs_with_their_signs() -> None:
    bridge = next(read_wikitext(FOLDER))
    assert [p.text for p in bridge.paragraphs if p.heading] == [
        "= Old Mill Bridge =",
        "= = History = =",
        "= = = Repairs = = =",
        "= = Traffic = =",
    ]
    # signs without a blank line before or after them, or more of them on one side, make no title
    assert [p.text for p in bridge.paragraphs][-6:] == [
        "= Passengers a day =",
        "= Weight in tons =",
        "The bridge is closed to cars .",
        "= A sum =",
        "= = One side more =",
        "= Or the other = =",
    ]


@pytest.mark.parametrize("split", SPLITS)
def test_no_word_is_lost(split: str) -> None:
    found = [d for d in read_wikitext(FOLDER) if d.id.startswith(f"{split}/")]
    assert [word for d in found for p in d.paragraphs for word in p.text.split()] == words(split)


def test_the_files_are_the_splits_and_every_word_comes_back(tmp_path: Path) -> None:
    manifest = segment_corpus(read_wikitext, FOLDER, tmp_path / "segments", shares=None, punkt="trained")
    assert {split: counts["documents"] for split, counts in manifest["splits"].items()} == {
        "train": 2,
        "valid": 1,
        "test": 2,
    }
    tokenizer = train_tokenizer("whitespace", SentencesOf(tmp_path / "segments" / "train.jsonl"), 500, False)
    # all words but <unk>, which is [UNK], and [MASK], which no text can say
    assert tokenizer.vocab_size == tokenizer.n_specials + len({*words("train")} - {"<unk>", "[MASK]"})
    encode_corpus(tmp_path / "segments", tokenizer, tmp_path / "encoded")
    known = {*words("train")} - {"[MASK]"}
    for split in SPLITS:
        corpus = EncodedCorpus.open(tmp_path / "encoded", split)
        expected = [word if word in known and word != "<unk>" else "[UNK]" for word in words(split)]
        assert tokenizer.tokens(corpus.ids) == expected
    bridge = next(read_segmented(tmp_path / "segments" / "train.jsonl"))
    assert [len(p.sentences) for p in bridge.paragraphs][:2] == [1, 2]


def test_a_limit_is_one_of_each_split(tmp_path: Path) -> None:
    manifest = segment_corpus(read_wikitext, FOLDER, tmp_path / "out", shares=None, punkt="trained", limit=1)
    assert [manifest["splits"][split]["documents"] for split in SPLITS] == [1, 1, 1]


def test_the_source_s_sum_covers_the_files(copy: Path) -> None:
    before = source_sha256(copy, ENDINGS)
    (copy / "README").write_text("not read")
    assert source_sha256(copy, ENDINGS) == before
    (copy / "wiki.test.tokens").write_text(" = A = \n \n b \n")
    assert source_sha256(copy, ENDINGS) != before


def test_raw_files_are_read_alike(copy: Path) -> None:
    expected = list(read_wikitext(copy))
    for split in SPLITS:
        (copy / f"wiki.{split}.tokens").rename(copy / f"wiki.{split}.raw")
    assert list(read_wikitext(copy)) == expected


def test_what_is_no_wikitext_is_named(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent: no such folder; give the folder of wiki\.train\.tokens"):
        list(read_wikitext(tmp_path / "absent"))
    with pytest.raises(InputError, match="holds no WikiText"):
        list(read_wikitext(tmp_path))
    shutil.copyfile(copy / "wiki.test.tokens", copy / "wiki.test.raw")
    with pytest.raises(InputError, match=r"holds \.tokens and \.raw files; keep one kind"):
        list(read_wikitext(copy))
    (copy / "wiki.test.raw").unlink()
    (copy / "wiki.valid.tokens").unlink()
    with pytest.raises(InputError, match=r"wiki\.valid\.tokens: no such file"):
        list(read_wikitext(copy))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "wiki.train.tokens: holds no article"),
        (" \n \n", "wiki.train.tokens: holds no article"),
        (" \n A line . \n \n = Title = \n", "wiki.train.tokens:2: text before the first title"),
        (" \n = = Heading = = \n \n", "wiki.train.tokens:2: text before the first title"),
    ],
)
def test_a_file_without_articles_is_named(copy: Path, content: str, said: str) -> None:
    (copy / "wiki.train.tokens").write_text(content)
    with pytest.raises(InputError) as caught:
        list(read_wikitext(copy))
    assert said in str(caught.value)
