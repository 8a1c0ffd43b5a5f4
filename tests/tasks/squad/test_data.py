"""SQuAD's two versions: both forms of each, and every way in which a file can be wrong."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from quartet.errors import InputError
from quartet.tasks.squad.data import Answer, SpanQuestion, read_squad1, read_squad2
from tests.shared_data import shared

CONTEXT = "  The Café was\nbuilt in 1854."
ONE: dict[str, Any] = {
    "version": "1.1",
    "data": [
        {
            "title": "Cafés",
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {
                            "id": "q1",
                            "question": " When was it built? ",
                            "answers": [
                                {"text": "1854", "answer_start": 24},
                                {"text": "in 1854", "answer_start": 21},
                            ],
                        }
                    ],
                }
            ],
        }
    ],
}
EXPECTED = SpanQuestion(
    "q1", "Cafés", CONTEXT, "When was it built?", (Answer("1854", 24), Answer("in 1854", 21))
)


def first(whole: Any) -> Any:
    """The first question of the official JSON."""
    return whole["data"][0]["paragraphs"][0]["qas"][0]


def two() -> Any:
    """The same as version 2.0, with a question that the context does not answer."""
    whole = copy.deepcopy(ONE)
    first(whole)["is_impossible"] = False
    whole["data"][0]["paragraphs"][0]["qas"].append(
        {
            "id": "q2",
            "question": "Who built it?",
            "is_impossible": True,
            "answers": [],
            "plausible_answers": [{"text": "not there", "answer_start": 99}],
        }
    )
    return whole


def write(folder: Path, whole: Any, name: str = "dev.json") -> Path:
    path = folder / name
    data = (whole if isinstance(whole, str) else json.dumps(whole)).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_both_versions_in_their_forms(tmp_path: Path) -> None:
    assert list(read_squad1(write(tmp_path, ONE))) == [EXPECTED]
    assert list(read_squad1(write(tmp_path, ONE, "dev.json.gz"))) == [EXPECTED]
    second = SpanQuestion("q2", "Cafés", CONTEXT, "Who built it?", ())
    assert list(read_squad2(write(tmp_path, two()))) == [EXPECTED, second]


def test_the_hubs_tables(tmp_path: Path) -> None:
    path = tmp_path / "validation-00000-of-00001.parquet"
    columns: dict[str, list[Any]] = {
        "id": ["q1", "q2"],
        "title": ["Cafés", None],
        "context": [CONTEXT, CONTEXT],
        "question": ["When was it built?", "Who built it?"],
        "answers": [
            {"text": ["1854", "in 1854"], "answer_start": [24, 21]},
            {"text": [], "answer_start": []},
        ],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    assert next(iter(read_squad2(path))) == EXPECTED
    second = list(read_squad2(path))[1]
    assert (second.title, second.answers) == ("", ())
    with pytest.raises(InputError, match=r"row 2: has no answer; a file of version 2\.0 is format squad2"):
        list(read_squad1(path))
    columns["answers"][1]["answer_start"] = [3]
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    with pytest.raises(InputError, match="row 2: 0 texts of answers and 1 places"):
        list(read_squad2(path))


def test_an_article_may_have_no_title(tmp_path: Path) -> None:
    whole = copy.deepcopy(ONE)
    for title in ({}, {"title": None}):
        whole["data"][0] = {"paragraphs": whole["data"][0]["paragraphs"], **title}
        assert next(iter(read_squad1(write(tmp_path, whole)))).title == ""


def again(whole: Any) -> None:
    whole["data"][0]["paragraphs"][0]["qas"] *= 2


def moved(whole: Any) -> None:
    first(whole)["answers"][1]["answer_start"] = 20


def outside(whole: Any) -> None:
    first(whole)["answers"][0]["answer_start"] = -4


def blank(whole: Any) -> None:
    first(whole)["answers"][0] = {"text": " ", "answer_start": 0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (again, "question q1: this id is there already"),
        (moved, 'question q1: the answer "in 1854" is not at character 20: there is " in 185"'),
        (outside, 'question q1: the answer "1854" is not at character -4'),
        (blank, "question q1: an answer is empty"),
        (lambda whole: first(whole).update(answers=[]), "question q1: has no answer"),
        (lambda whole: first(whole).update(question=None), "question q1: question is NoneType"),
        (lambda whole: first(whole).pop("id"), "article 1: has no id"),
        (lambda whole: first(whole)["answers"][0].update(answer_start="25"), "answer_start is str"),
        (lambda whole: first(whole)["answers"][0].update(answer_start=True), "answer_start is bool"),
        (
            lambda whole: whole["data"][0]["paragraphs"][0].update(context=""),
            "question q1: the context is empty",
        ),
        (lambda whole: whole.pop("data"), "has no data"),
        (lambda whole: whole["data"].append("x"), "article 2: str where an object was expected"),
    ],
)
def test_what_is_malformed_is_one_line(tmp_path: Path, change: Callable[[Any], Any], message: str) -> None:
    whole = copy.deepcopy(ONE)
    change(whole)
    with pytest.raises(InputError) as caught:
        list(read_squad1(write(tmp_path, whole)))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "dev.json"))
    assert "\n" not in str(caught.value)


def test_versions_are_not_taken_for_each_other(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"q1: does not say is_impossible; a file of version 1\.1 is format squad1"
    ):
        list(read_squad2(write(tmp_path, ONE)))
    whole = two()
    first(whole)["is_impossible"] = True
    with pytest.raises(InputError, match="q1: is_impossible is True and it has 2 answers"):
        list(read_squad2(write(tmp_path, whole)))
    first(whole)["is_impossible"] = "no"
    with pytest.raises(InputError, match="q1: is_impossible is 'no'"):
        list(read_squad2(write(tmp_path, whole)))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"data": 3}', '{"data": [{"title": "a"}]}'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        list(read_squad1(write(tmp_path, text)))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    whole = json.dumps(ONE)
    for name in ("dev.json", "dev.json.gz"):
        path = write(tmp_path, whole, name)
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(InputError):
            list(read_squad1(path))


@pytest.mark.parametrize(
    ("name", "questions", "contexts"),
    [
        ("dev-v1.1.part_3articles.json", 700, 147),
        ("xquad.en.json", 1190, 240),
        ("train-v1.1.part_17articles.json.gz", 3939, 773),
        ("train-v1.1.part_first10articles.json", 3286, 506),
    ],
)
def test_counts_of_version_1(name: str, questions: int, contexts: int) -> None:
    found = list(read_squad1(shared(f"squad/{name}")))
    assert (len(found), len({question.context for question in found})) == (questions, contexts)


def test_counts_of_version_2() -> None:
    found = list(read_squad2(shared("squad/dev-v2.0.cs224n_half.json.gz")))
    assert (len(found), sum(bool(question.answers) for question in found)) == (6078, 2910)
    assert len({question.title for question in found}) == 16
