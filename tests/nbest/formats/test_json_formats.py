"""ESPnet's data.json and HyPoradise: what is legal is read exactly, what is malformed is named."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import NBestFiles, espnet, read
from tests.nbest.lists import lists_of, nbest


def espnet_file(tmp_path: Path, output: Any) -> Path:
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"utts": {"u": {"utt2spk": "s", "output": output}}}))
    return path


def test_espnet_texts_lose_the_marks_of_their_units(tmp_path: Path) -> None:
    output = [
        {
            "name": "target1[1]",
            "rec_text": "▁a▁bc<eos>",
            "score": -1.5,
            "text": "a b",
            "token": "a b",
            "shape": [2],
        },
        {
            "name": "target1[2]",
            "rec_text": "a<space>b<eos>",
            "score": -2,
            "text": "a b",
            "rec_tokenid": "1 2",
        },
        {"name": "target1[3]", "rec_text": "<eos>", "score": -3, "text": "a b"},
    ]
    (one,) = lists_of("espnet", espnet_file(tmp_path, output))
    assert one == nbest("u", "a b", ("a bc", -1.5), ("a b", -2.0), ("", -3.0))
    ranked = [{"rec_text": "a"}, {"rec_text": "b"}]
    assert lists_of("espnet", espnet_file(tmp_path, ranked)) == [nbest("u", None, ("a", None), ("b", None))]
    assert doctest.testmod(espnet).failed == 0


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ([], 'utterance "u": has no hypothesis'),
        ({}, 'utterance "u", output: a list was expected, not an object'),
        ([[]], "output 1: an object was expected, not a list"),
        ([{"text": "a"}], 'output 1: has no "rec_text"'),
        ([{"rec_text": 1}], "output 1, rec_text: a text was expected, not a number"),
        ([{"rec_text": "a", "score": None}], "output 1, score: a number was expected as the score, not null"),
        ([{"rec_text": "a", "score": float("nan")}], "output 1, score: the score is nan"),
        ([{"rec_text": "a", "score": -1}, {"rec_text": "b"}], "hypothesis 2 has no score"),
        (
            [{"rec_text": "a", "text": "x"}, {"rec_text": "b", "text": "y"}],
            'output 2: its "text", the reference',
        ),
    ],
)
def test_malformed_espnet_utterances_are_named(output: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        lists_of("espnet", espnet_file(tmp_path, output))
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "{}", '{"utts": []}', '{"utts": {}, "utts": {}}', '{"utts": {}}'])
def test_espnet_files_without_utterances_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(text)
    with pytest.raises(InputError, match=r"data\.json"):
        lists_of("espnet", tmp_path / "data.json")


def hyporadise_file(tmp_path: Path, *entries: Any) -> Path:
    path = tmp_path / "test.json"
    path.write_text(json.dumps(entries))
    return path


def test_hyporadise_with_and_without_scores_and_names(tmp_path: Path) -> None:
    ranked = hyporadise_file(
        tmp_path, {"input": ["a", "", "a"], "output": "b", "input1": 3}, {"input": ["c"]}
    )
    assert lists_of("hyporadise", ranked) == [
        nbest("1", "b", ("a", None), ("", None), ("a", None)),
        nbest("2", None, ("c", None)),
    ]
    for key in ("score", "am_score"):
        scored = hyporadise_file(tmp_path, {"id": "x", "input": ["a", "b"], "output": "", key: [-1.5, -2]})
        assert lists_of("hyporadise", scored) == [nbest("x", "", ("a", -1.5), ("b", -2.0))]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ([], "entry 1: an object was expected, not a list"),
        ({"output": "a"}, 'entry 1, utterance "1": has no "input"'),
        ({"input": []}, 'utterance "1": has no hypothesis'),
        ({"input": "a"}, "input: a list was expected, not a text"),
        ({"input": ["a", None]}, "input 2: a text was expected, not null"),
        ({"input": ["a"], "output": 1}, "output: a text was expected, not a number"),
        ({"input": ["a"], "id": 1}, "entry 1, id: a text was expected, not a number"),
        ({"input": ["a"], "score": [1, 2]}, "score: has 2 scores for 1 hypotheses"),
        ({"input": ["a"], "score": -1}, "score: a list was expected, not a number"),
        ({"input": ["a"], "score": [True]}, "score 1: a number was expected as the score, not true"),
        ({"input": ["a"], "score": [1], "am_score": [1]}, "has scores under score and am_score"),
    ],
)
def test_malformed_hyporadise_entries_are_named(entry: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        lists_of("hyporadise", hyporadise_file(tmp_path, entry))
    assert words in str(caught.value)


def test_hyporadise_may_be_an_object_a_line(tmp_path: Path) -> None:
    """As `datasets` writes it; the number of a list without a name counts objects, and not lines."""
    objects = [
        {"output": "b", "input": ["a", ""]},
        {"input": ["c"]},
        {"id": "x", "input": ["d"], "output": None},
    ]
    lists = lists_of("hyporadise", hyporadise_file(tmp_path, *objects))
    assert [one.utterance for one in lists] == ["1", "2", "x"]
    first, *others = (json.dumps(one) for one in objects)
    path = tmp_path / "test.jsonl"
    path.write_text("\ufeff" + "\n \n".join([first, *others]), encoding="utf-8")
    for name in ("hyporadise", None):
        assert read(name, NBestFiles(path)).lists == lists
    path.write_bytes(f"{first}\n".encode() + b'{"input": ["\xff"]}\n' + others[0].encode())
    found = read("hyporadise", NBestFiles(path), skip=True)
    assert [one.utterance for one in found.lists] == ["1", "3"]
    assert len(found.refused) == 1


def test_hyporadise_is_a_list_without_an_utterance_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='entry 2, utterance "x": occurs twice'):
        lists_of("hyporadise", hyporadise_file(tmp_path, *2 * [{"id": "x", "input": ["a"]}]))
    (tmp_path / "a.json").write_text("1")
    with pytest.raises(InputError, match=r"a\.json: a list was expected, not a number"):
        lists_of("hyporadise", tmp_path / "a.json")
