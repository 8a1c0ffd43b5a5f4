"""A set that is nothing but a map of its columns: read from every form of file, and refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.tasks.judged_texts import FIRST, GOLD, SECOND, ColumnMap, Columns, set_format
from tests.tasks.sts.test_data import parquet, write

TEXTS = ("text1", "text2")
MINE = set_format(
    lambda one: (*one.texts, one.score),
    ColumnMap(
        hub=(Columns(TEXTS, score="similarity"),),
        table=(Columns(TEXTS, score="Score"),),
        bare=((FIRST, SECOND, GOLD),),
        csv=((GOLD, FIRST, SECOND),),
        scores=(1.0, 4.0),
    ),
    ("dev", "test"),
    "example.org",
)
EXPECTED = [("A, b", 'C "d"', 1.5), ("e", "f", 4.0)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", 'id\tScore\ttext1\ttext2\n1\t1.5\tA, b\tC "d"\n2\t4\te\tf\n'),
        ("a.txt.gz", 'A, b\tC "d"\t1.5\ne\tf\t4\n'),
        ("a.csv", 'text1,text2,Score\n"A, b","C ""d""",1.5\ne,f,4\n'),
        ("a.csv", '1.5,"A, b","C ""d"""\n4,e,f\n'),
        ("a.csv", 'text1\ttext2\tScore\nA, b\tC "d"\t1.5\ne\tf\t4\n'),
        ("a.jsonl.gz", '{"text1": "A, b", "text2": "C \\"d\\"", "similarity": 1.5}\n'
                       '{"text1": "e", "text2": "f", "similarity": "4"}\n'),
    ],
)  # fmt: skip
def test_every_form_gives_the_same(tmp_path: Path, name: str, text: str) -> None:
    assert list(MINE.read(write(tmp_path, name, text))) == EXPECTED


def test_parquet_gives_the_same(tmp_path: Path) -> None:
    path = parquet(tmp_path, text1=["A, b", "e"], text2=['C "d"', "f"], similarity=[1.5, 4.0])
    assert list(MINE.read(path)) == EXPECTED


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "text1\ttext2\tscore\na\tb\t2\n", r"a\.tsv:1: no column Score; there are text1, text2, score"),
        ("a.tsv", "text1\ttext2\tScore\na\tb\t5\n", r"a\.tsv:2: the score 5 is not within 1 and 4"),
        ("a.tsv", "a\tb\t2\nc\td\n", r"a\.tsv:2: 2 columns, the first line has 3"),
        ("a.csv", "2,a,b\n2,c\n", r"a\.csv:2: 2 columns, the first line has 3"),
        ("a.csv", "text1,text2,Score,text1\na,b,2,c\n", r"a\.csv:1: names the column text1 twice"),
        ("a.jsonl", '{"text1": "a", "text2": "b", "Score": 2}\n', r"a\.jsonl:1: no column similarity; there are"),
        ("a.tsv", "split\ttext1\ttext2\tScore\ntrain\ta\tb\t2\ndev\tc\td\t2\n", r"a\.tsv:3: .*split.*train.*dev"),
        ("a.jsonl", '{"language": "de", "text1": "a", "text2": "b", "similarity": 2}\n'
                    '{"language": "ar", "text1": "a", "text2": "b", "similarity": 2}\n', r"a\.jsonl:2: .*language"),
        ("a.tsv", "text1\ttext2\tScore\n", r"a\.tsv: holds no pair with a score"),
        ("a.tsv", "\n", r"a\.tsv: is empty"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(MINE.read(write(tmp_path, name, text)))


def test_only_what_may_be_passed_over_is_counted() -> None:
    assert MINE.passed_over is None


def test_a_form_of_which_a_set_knows_no_columns_is_refused(tmp_path: Path) -> None:
    columns = (Columns(TEXTS, score="Score"),)
    for files, name, text in (
        (ColumnMap(table=columns), "a.jsonl", '{"text1": "a", "text2": "b", "Score": 2}\n'),
        (ColumnMap(hub=columns), "a.tsv", "text1\ttext2\tScore\na\tb\t2\n"),
    ):
        mine = set_format(lambda one: one, files, ("test",), "example.org")
        with pytest.raises(InputError, match=f"{name}: this set is read from"):
            list(mine.read(write(tmp_path, name, text)))


def test_columns_that_contradict_themselves_are_no_map() -> None:
    with pytest.raises(ValueError, match="twice"):
        Columns(("text1", "text1"), score="Score")
    with pytest.raises(ValueError, match="is a score"):
        ColumnMap(table=(Columns(TEXTS, label="Score"),))
