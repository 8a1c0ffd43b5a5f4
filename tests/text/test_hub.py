"""Data sets in the shape of the hub's: the same documents from Parquet, JSON or a configuration, and clear mistakes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quartet.config.text import HubConfig
from quartet.errors import InputError
from quartet.text.documents import Document, documents_of
from quartet.text.hub import HubReader
from quartet.text.plain import DOCUMENT_LINES
from quartet.text.segmentation import segment_corpus
from quartet.text.split import HeldOutShares
from quartet.text.wikitext_corpus import read_wikitext
from tests.text import corpus

ARTICLES = [
    {"id": "12", "title": "Tea", "text": "Tea is hot.\n\nIt is drunk\nslowly."},
    {"id": "7", "title": "Rain", "text": "Rain is wet."},
    {"id": "9", "title": "Snow", "text": "Snow is cold.\n\nIt melts."},
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def parquet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=2)


def read(path: Path, **settings: Any) -> list[Document]:
    return list(documents_of(HubReader(HubConfig(**settings))(path)))


def test_rows_are_documents_with_their_titles_ids_and_paragraphs(tmp_path: Path) -> None:
    parquet(tmp_path / "wiki" / "train-00000-of-00002.parquet", ARTICLES[:2])
    parquet(tmp_path / "wiki" / "train-00001-of-00002.parquet", ARTICLES[2:])
    found = read(tmp_path / "wiki", title="title", id="id")
    assert [(one.id, one.title) for one in found] == [
        ("train/12", "Tea"),
        ("train/7", "Rain"),
        ("train/9", "Snow"),
    ]
    assert [p.text for p in found[0].paragraphs] == ["Tea is hot.", "It is drunk slowly."]
    assert [one.id for one in read(tmp_path / "wiki")] == ["train/1", "train/2", "train/3"]


def test_the_number_of_its_files_changes_no_split(tmp_path: Path) -> None:
    rows = [{"text": f"Tale {number}. It is short."} for number in range(60)]
    found = []
    for count in (1, 4):
        for number in range(count):
            name = f"train-{number:05}-of-{count:05}.parquet"
            parquet(
                tmp_path / str(count) / "set" / name, rows[number * 60 // count : (number + 1) * 60 // count]
            )
        folder = tmp_path / str(count) / "out"
        segment_corpus(
            HubReader(HubConfig()),
            tmp_path / str(count) / "set",
            folder,
            shares=HeldOutShares(0.2, 0.2),
            punkt="trained",
        )
        found.append(
            {split: (folder / f"{split}.jsonl").read_bytes() for split in ("train", "valid", "test")}
        )
    assert found[0] == found[1]
    assert all(found[0].values())


def test_other_formats_hold_the_same(tmp_path: Path) -> None:
    parquet(tmp_path / "parquet" / "train.parquet", ARTICLES)
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ARTICLES))
    expected = read(tmp_path / "parquet", title="title", id="id")
    assert read(tmp_path / "json", title="title", id="id") == expected
    assert read(tmp_path / "json" / "train.jsonl", title="title", id="id") == expected, "a file alone"


def test_splits_are_theirs_or_as_they_are_mapped(tmp_path: Path) -> None:
    for name, row in zip(("train", "validation", "test"), ARTICLES, strict=True):
        parquet(tmp_path / "set" / f"{name}-00000-of-00001.parquet", [row])
    assert [one.id for one in read(tmp_path / "set")] == ["train/1", "valid/1", "test/1"]
    swapped = read(tmp_path / "set", splits={"test": "validation", "train": "train"})
    assert [(one.id, one.paragraphs[0].text) for one in swapped] == [
        ("train/1", "Tea is hot."),
        ("test/1", "Rain is wet."),
    ]
    with pytest.raises(InputError, match="has no split 'dev'; its splits are train, validation, test"):
        read(tmp_path / "set", splits={"valid": "dev"})


def test_files_of_no_split_are_named_and_the_remedy_reads_them(tmp_path: Path) -> None:
    for name in ("news", "test_reports"):
        parquet(tmp_path / "set" / f"{name}.parquet", ARTICLES)
    with pytest.raises(InputError, match=r"1 .*news\.parquet"):
        read(tmp_path / "set")
    (tmp_path / "set" / "news.parquet").rename(tmp_path / "set" / "train-1.parquet")
    (tmp_path / "set" / "test_reports.parquet").rename(tmp_path / "set" / "train-test.parquet")
    with pytest.raises(InputError, match=r"1 .*train-test\.parquet"):
        read(tmp_path / "set")
    (tmp_path / "set" / "train-test.parquet").rename(tmp_path / "set" / "train-2.parquet")
    assert len(read(tmp_path / "set")) == 2 * len(ARTICLES)


def test_a_configuration_is_chosen_by_name(tmp_path: Path) -> None:
    parquet(tmp_path / "set" / "a" / "train.parquet", ARTICLES[:1])
    parquet(tmp_path / "set" / "b" / "train.parquet", ARTICLES[1:])
    (tmp_path / "set" / "README.md").write_text(
        "---\nconfigs:\n- config_name: a\n  data_files: a/*\n- config_name: b\n  data_files: b/*\n---\n"
    )
    assert [one.title for one in read(tmp_path / "set", config="b", title="title")] == ["Rain", "Snow"]
    with pytest.raises(InputError, match="cannot be read as a data set"):
        read(tmp_path / "set", config="c")


def test_wikitext_s_rows_are_the_articles_of_its_files(tmp_path: Path) -> None:
    lines = [
        "",
        " = Tea = ",
        "",
        " Tea is hot . ",
        "",
        " = = Cups = = ",
        "",
        " A cup . ",
        "",
        " = Rain = ",
        "",
        " Wet . ",
    ]
    for split, name in (("train", "train"), ("valid", "validation"), ("test", "test")):
        (tmp_path / "files").mkdir(exist_ok=True)
        (tmp_path / "files" / f"wiki.{split}.tokens").write_text("".join(f"{line}\n" for line in lines))
        parquet(
            tmp_path / "rows" / f"{name}.parquet", [{"text": f"{line}\n" if line else ""} for line in lines]
        )
    assert read(tmp_path / "rows", rows="wikitext") == list(read_wikitext(tmp_path / "files"))
    parquet(tmp_path / "early" / "train.parquet", [{"text": "words\n"}])
    with pytest.raises(InputError, match="train:1: text before the first title"):
        read(tmp_path / "early", rows="wikitext")


def test_sentences_are_put_into_documents(tmp_path: Path) -> None:
    parquet(
        tmp_path / "books" / "train.parquet", [{"text": f"line {n} ."} for n in range(DOCUMENT_LINES + 5)]
    )
    found = read(tmp_path / "books", rows="lines")
    assert [(one.id, len(one.paragraphs)) for one in found] == [
        ("train/books-1", DOCUMENT_LINES),
        ("train/books-2", 5),
    ]


@pytest.mark.parametrize(
    ("row", "settings", "said"),
    [
        ({"text": "x"}, {"text": "txt"}, "has no column 'txt'; its columns are text"),
        ({"text": "x"}, {"title": "title"}, "has no column 'title'"),
        ({"text": 3}, {}, "train, row 1: a text, title or id is missing"),
        ({"text": "x", "id": None}, {"id": "id"}, "train, row 1: a text, title or id is missing"),
    ],
)
def test_mistakes_name_the_column_or_row(tmp_path: Path, row: Any, settings: Any, said: str) -> None:
    parquet(tmp_path / "set" / "train.parquet", [row])
    with pytest.raises(InputError, match=said):
        read(tmp_path / "set", **settings)


def test_what_is_no_data_set_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut").mkdir()
    parquet(tmp_path / "cut" / "train.parquet", ARTICLES)
    whole = (tmp_path / "cut" / "train.parquet").read_bytes()
    (tmp_path / "cut" / "train.parquet").write_bytes(whole[:-20])
    for name, said in (
        ("absent", "no such file"),
        ("empty", "cannot be read as"),
        ("cut", "cannot be read as"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            read(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_columns_of_a_document_mean_nothing_for_lines() -> None:
    with pytest.raises(ValueError, match="title means nothing where rows are lines"):
        HubConfig(rows="lines", title="title")


def test_a_folder_of_rows_is_segmented_and_named_by_all_its_files(tmp_path: Path) -> None:
    rows = [
        {"text": "\n\n".join(p.text for p in one.paragraphs), "title": one.title, "id": int(one.id)}
        for one in corpus.documents(12)
    ]
    parquet(tmp_path / "set" / "train.parquet", rows)
    settings: Any = {"shares": HeldOutShares(0.2, 0.2), "punkt": "trained", "workers": 1}
    reader = HubReader(HubConfig(title="title", id="id"))
    first = segment_corpus(reader, tmp_path / "set", tmp_path / "out", **settings)
    assert {split: counts["documents"] for split, counts in first["splits"].items()} == {
        "train": 8,
        "valid": 2,
        "test": 2,
    }
    parquet(tmp_path / "set" / "train.parquet", rows[:11])
    second = segment_corpus(reader, tmp_path / "set", tmp_path / "out", **settings)
    assert first["source"]["sha256"] != second["source"]["sha256"]
