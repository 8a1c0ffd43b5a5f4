"""RACE: its three forms say the same, and what is malformed is one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from quartet.errors import InputError
from quartet.tasks.race.data import ChoiceQuestion, read_race
from tests.shared_data import shared

PASSAGE = "It rains.\nNobody goes out."
OPTIONS = [["rain", "snow", "sun", "wind"], ["all", "some", "few", "none"]]


def article(number: int, level: str = "middle") -> dict[str, Any]:
    return {
        "id": f"{level}{number}.txt",
        "article": PASSAGE,
        "questions": ["What is the weather?", "Who goes out:  _  ."],
        "options": OPTIONS,
        "answers": ["A", "D"],
    }


def lines(folder: Path, *articles: Any, name: str = "dev.jsonl") -> Path:
    path = folder / name
    data = "".join(json.dumps(one) + "\n" for one in articles).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def expected(number: int, level: Any = "middle") -> list[ChoiceQuestion]:
    return [
        ChoiceQuestion(
            f"{level}{number}.txt", 0, PASSAGE, "What is the weather?", tuple(OPTIONS[0]), 0, level
        ),
        ChoiceQuestion(
            f"{level}{number}.txt", 1, PASSAGE, "Who goes out:  _  .", tuple(OPTIONS[1]), 3, level
        ),
    ]


def test_the_three_forms_say_the_same(tmp_path: Path) -> None:
    both = [*expected(2), *expected(10), *expected(1, "high")]
    articles = [article(2), article(10), article(1, "high")]
    assert list(read_race(lines(tmp_path, *articles))) == both
    assert list(read_race(lines(tmp_path, *articles, name="dev.jsonl.gz"))) == both
    for one in articles:
        level, number = one["id"].removesuffix(".txt")[: -1 if "10" not in one["id"] else -2], one["id"]
        path = tmp_path / "published" / level / number.removeprefix(level)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one))
    assert list(read_race(tmp_path / "published")) == both, "by level, then by number"
    rows = [
        {
            "example_id": question.article_id,
            "article": question.passage,
            "answer": "ABCD"[question.answer],
            "question": question.text,
            "options": list(question.options),
        }
        for question in both
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "test.parquet")
    assert list(read_race(tmp_path / "test.parquet")) == both
    assert [question.id for question in both][:2] == ["middle2.txt-0", "middle2.txt-1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": ["A", "E"]}, "dev.jsonl:1: question 2: 'E' is no label"),
        ({"answers": ["A"]}, "dev.jsonl:1: questions, options and answers are 2, 2, 1"),
        ({"answers": "AD"}, "dev.jsonl:1: answers is str, a list was expected"),
        ({"options": [OPTIONS[0], OPTIONS[1][:3]]}, "question 2: 4 options were expected"),
        ({"options": [OPTIONS[0], ["a", "b", "", "d"]]}, "question 2: C is empty"),
        ({"questions": ["a", None]}, "question 2: the question is NoneType"),
        ({"article": " "}, "dev.jsonl:1: article is empty"),
        ({"id": "college2.txt"}, 'the id "college2.txt" does not begin with middle or high'),
    ],
)
def test_what_is_malformed_is_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        list(read_race(lines(tmp_path, {**article(2), **change})))
    assert message in str(caught.value)


def test_a_passage_occurs_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dev\.jsonl:2: the passage middle2\.txt is there already"):
        list(read_race(lines(tmp_path, article(2), article(2))))


def test_folders_that_are_no_split_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no middle/<n>\.txt or high/<n>\.txt"):
        list(read_race(tmp_path))
    (tmp_path / "high").mkdir()
    (tmp_path / "high" / "2.txt").write_text(json.dumps(article(2)))
    with pytest.raises(InputError, match=r"its id middle2\.txt is of another level than its folder"):
        list(read_race(tmp_path))
    (tmp_path / "high" / "2.txt").write_text("[]")
    with pytest.raises(InputError, match=r"high/2\.txt: no article, questions"):
        list(read_race(tmp_path))


@pytest.mark.parametrize(
    ("name", "articles", "questions"),
    [
        ("dev.high.jsonl.gz", 1021, 3451),
        ("dev.middle.jsonl", 368, 1436),
        ("test.high.jsonl.gz", 1045, 3498),
        ("test.middle.jsonl", 362, 1436),
        ("train.middle.jsonl.gz", 6409, 25421),
        ("train.high.first3000.jsonl.gz", 3000, 10324),
    ],
)
def test_counts(name: str, articles: int, questions: int) -> None:
    found = list(read_race(shared(f"race/{name}")))
    assert (len({question.article_id for question in found}), len(found)) == (articles, questions)
    assert {question.level for question in found} == {name.split(".")[1]}
