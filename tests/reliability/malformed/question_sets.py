"""SQuAD, RACE and BLiMP: their JSON, tables and archives."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.reliability.malformed.case import Case, as_json, as_jsonl, damaged_text, without
from tests.reliability.malformed.similarity_sets import Texts, common, parquet, published

CONTEXT = "A heron stands in the river."
QA = {"id": "q1", "question": "Who stands?", "answers": [{"text": "heron", "answer_start": 2}]}
PASSAGE = {
    "id": "high1.txt",
    "article": "A heron stands.",
    "questions": ["Who?"],
    "options": [["a heron", "a fish", "a river", "nobody"]],
    "answers": ["A"],
}
MINIMAL = {
    "sentence_good": "The herons stand.",
    "sentence_bad": "The herons stands.",
    "field": "morphology",
    "linguistics_term": "subject_verb_agreement",
    "UID": "regular_plural_subject_verb_agreement_1",
    "pairID": "0",
}


def squad(question: object = QA, context: object = CONTEXT, **more: Any) -> bytes:
    """A set of one question."""
    return as_json(
        {"data": [{"title": "Heron", "paragraphs": [{"context": context, "qas": [question]}], **more}]}
    )


def zipped(**files: bytes) -> bytes:
    """An archive of files, whose dots are written as two underscores."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", ".")), data)
    return buffer.getvalue()


def cases() -> Iterator[Case]:
    for form, texts in {"squad1": {**SQUAD, **SQUAD_1}, "squad2": SQUAD_2}.items():
        for what, (file, data, says) in texts.items():
            yield Case(f"squad/{form}", what, {file: data}, published("squad", form, file), says)
    for what, (file, data, says) in RACE.items():
        yield Case("race/race", what, {file: data}, published("race", "race", file), says)
    for what, (files, says) in RACE_FOLDERS.items():
        yield Case("race/folder", what, files, published("race", "race", "dev"), says)
    for what, (file, data, says) in BLIMP.items():
        yield Case("blimp/blimp", what, {file: data}, published("blimp", "blimp", file), says)
    yield Case(
        "blimp/blimp",
        "an empty folder",
        {"set/a.txt": b""},
        published("blimp", "blimp", "set"),
        "holds no pair",
    )
    yield Case(
        "blimp/blimp",
        "a pair in two files",
        {"set/a.jsonl": as_jsonl(MINIMAL), "set/b.jsonl": as_jsonl(MINIMAL)},
        published("blimp", "blimp", "set"),
        "the pair 0 of .* is there already",
    )


def _damaged(name: str, valid: bytes) -> Texts:
    return {what: (file, data, says) for what, file, data, says in damaged_text(name, valid)}


def _answers(*answers: object) -> dict[str, Any]:
    return {**QA, "answers": list(answers)}


_hub: Callable[..., bytes] = parquet
SQUAD: Texts = {
    "cut short": ("dev.json", squad()[:-8], "dev.json: not a JSON document"),
    "empty": ("dev.json", b"", "dev.json: not a JSON document"),
    "a list": ("dev.json", b"[]", "not in SQuAD's form: list"),
    "no data": ("dev.json", b'{"version": "1.1"}', "dev.json: has no data"),
    "data that is an object": ("dev.json", b'{"data": {}}', "data is dict, list was expected"),
    "no paragraphs": ("dev.json", as_json({"data": [{"title": "a"}]}), "article 1: has no paragraphs"),
    "an article that is a text": ("dev.json", as_json({"data": ["a"]}), "data|article 1|no paragraphs|str"),
    "a context that is a number": ("dev.json", squad(context=7), "article 1: context is int"),
    "an empty context": ("dev.json", squad(context=" "), "question q1: the context is empty"),
    "no id": ("dev.json", squad(without(QA, "id")), "article 1: has no id"),
    "an id that is a number": ("dev.json", squad({**QA, "id": 1}), "id is int, str was expected"),
    "no question": ("dev.json", squad(without(QA, "question")), "question q1: question is NoneType"),
    "no answers": ("dev.json", squad(without(QA, "answers")), "question q1: has no answers"),
    "an answer elsewhere": (
        "dev.json",
        squad(_answers({"text": "heron", "answer_start": 3})),
        "is not at character 3",
    ),
    "an answer before the start": (
        "dev.json",
        squad(_answers({"text": "A", "answer_start": -1})),
        "at character -1",
    ),
    "an answer behind the end": (
        "dev.json",
        squad(_answers({"text": "A", "answer_start": 10**12})),
        "is not at char",
    ),
    "a start that is a text": (
        "dev.json",
        squad(_answers({"text": "A", "answer_start": "0"})),
        "answer_start is str",
    ),
    "a start that is true": (
        "dev.json",
        squad(_answers({"text": "A", "answer_start": True})),
        "answer_start is bool",
    ),
    "an empty answer": ("dev.json", squad(_answers({"text": "", "answer_start": 0})), "an answer is empty"),
    "an answer that is a text": ("dev.json", squad(_answers("heron")), "str where an object was expected"),
    "impossible is a text": ("dev.json", squad({**QA, "is_impossible": "no"}), "is_impossible is 'no'"),
    "half a surrogate pair": ("dev.json", squad({**QA, "question": "\ud800"}), "half a surrogate pair"),
    "half a surrogate pair in the context": (
        "dev.json",
        squad(context="A \ud800heron", question=_answers({"text": "A", "answer_start": 0})),
        "half a surrogate pair",
    ),
    "a start twice": (
        "dev.json",
        squad().replace(b'"answer_start": 2', b'"answer_start": 3, "answer_start": 2'),
        'the key "answer_start" twice',
    ),
    "ten thousand brackets": ("dev.json", b"[" * 100_000, "dev.json: not a JSON document"),
    "a number of 5,000 digits": (
        "dev.json",
        squad().replace(b": 2", b": " + b"9" * 5000),
        "not a JSON document",
    ),
    **_damaged("dev.json", squad()),
    "answers of two lengths": (
        "dev.parquet",
        _hub(
            id=["a"],
            title=[""],
            context=["A"],
            question=["Q"],
            answers=[{"text": ["A"], "answer_start": [0, 1]}],
        ),
        "1 texts of answers and 2 places",
    ),
    "answers that are a text": (
        "dev.parquet",
        _hub(id=["a"], title=[""], context=["A"], question=["Q"], answers=["A"]),
        "answers is str, dict was expected",
    ),
}
SQUAD_1: Texts = {
    "a question twice": (
        "dev.json",
        as_json({"data": [{"paragraphs": [{"context": CONTEXT, "qas": [QA, QA]}]}]}),
        "question q1: this id is there already",
    ),
    "a question of version 2.0": ("dev.json", squad(_answers()), "has no answer; a file of version 2.0 is"),
}
SQUAD_2: Texts = {
    "a set of version 1.1": ("dev.json", squad(), "does not say is_impossible"),
    "impossible with an answer": (
        "dev.json",
        squad({**QA, "is_impossible": True}),
        "is_impossible is True and it has 1",
    ),
    "possible without one": (
        "dev.json",
        squad({**_answers(), "is_impossible": False}),
        "is_impossible is False and",
    ),
}

RACE: Texts = {
    **common("dev.jsonl"),
    "empty id": ("dev.jsonl", as_jsonl({**PASSAGE, "id": ""}), "id is empty"),
    "no passage": ("dev.jsonl", as_jsonl(without(PASSAGE, "article")), "no column article"),
    "a passage twice": ("dev.jsonl", as_jsonl(PASSAGE, PASSAGE), "the passage high1.txt is there already"),
    "an answer too few": (
        "dev.jsonl",
        as_jsonl({**PASSAGE, "answers": []}),
        "questions, options and answers are 1, 1, 0",
    ),
    "an answer E": ("dev.jsonl", as_jsonl({**PASSAGE, "answers": ["E"]}), "'E' is no label"),
    "an answer that is null": ("dev.jsonl", as_jsonl({**PASSAGE, "answers": [None]}), "None is no label"),
    "three options": (
        "dev.jsonl",
        as_jsonl({**PASSAGE, "options": [["a", "b", "c"]]}),
        "4 options were expected",
    ),
    "an option that is a number": (
        "dev.jsonl",
        as_jsonl({**PASSAGE, "options": [["a", "b", "c", 4]]}),
        "D is int, a text was expected",
    ),
    "options that are a text": ("dev.jsonl", as_jsonl({**PASSAGE, "options": "abcd"}), "options is str"),
    "a level that is none": (
        "dev.jsonl",
        as_jsonl({**PASSAGE, "id": "low1.txt"}),
        "does not begin with middle or high",
    ),
    "a question that is null": (
        "dev.jsonl",
        as_jsonl({**PASSAGE, "questions": [None]}),
        "the question is NoneType",
    ),
    "a passage that changes": (
        "dev.parquet",
        parquet(
            example_id=["high1.txt"] * 2,
            article=["A heron.", "A fish."],
            question=["Who?"] * 2,
            options=[["a", "b", "c", "d"]] * 2,
            answer=["A"] * 2,
        ),
        "another passage has the id high1.txt already",
    ),
    **_damaged("dev.jsonl", as_jsonl(PASSAGE)),
}
RACE_FOLDERS: dict[str, tuple[dict[str, bytes], str]] = {
    "no levels": ({"dev/1.txt": as_json(PASSAGE)}, "holds no middle/<n>.txt or high/<n>.txt"),
    "a level that differs": ({"dev/middle/1.txt": as_json(PASSAGE)}, "of another level than its folder"),
    "no passage": (
        {"dev/high/1.txt": as_json(without(PASSAGE, "article"))},
        "1.txt: no article: not a passage",
    ),
    "a list": ({"dev/high/1.txt": b"[]"}, "not a passage of RACE"),
    "cut short": ({"dev/high/1.txt": as_json(PASSAGE)[:-3]}, "1.txt: not a JSON document"),
    "empty": ({"dev/high/1.txt": b""}, "1.txt: not a JSON document"),
}

_encrypted = bytearray(zipped(a__jsonl=as_jsonl(MINIMAL)))
_encrypted[6] |= 1
_encrypted[_encrypted.index(b"PK\x01\x02") + 8] |= 1
_archive = zipped(a__jsonl=as_jsonl(MINIMAL))
BLIMP: Texts = {
    **common("pairs.jsonl"),
    "empty": ("pairs.jsonl", b"", "holds no pair"),
    "no number": ("pairs.jsonl", as_jsonl(without(MINIMAL, "pairID")), "no column pairID"),
    "no bad sentence": ("pairs.jsonl", as_jsonl(without(MINIMAL, "sentence_bad")), "no column sentence_bad"),
    "a pair twice": ("pairs.jsonl", as_jsonl(MINIMAL, MINIMAL), "pairs.jsonl:2: the pair 0"),
    "an empty sentence": (
        "pairs.jsonl",
        as_jsonl({**MINIMAL, "sentence_good": ""}),
        "sentence_good is empty",
    ),
    "a paradigm that is a number": ("pairs.jsonl", as_jsonl({**MINIMAL, "UID": 1}), "UID is int"),
    "an archive that is cut short": ("pairs.zip", _archive[:-30], "not a zip file"),
    "an archive that is text": ("pairs.zip", b"PK\x03\x04 hello", "not a zip file"),
    "an empty archive": ("pairs.zip", zipped(), "holds no pair"),
    "an archive without .jsonl": ("pairs.zip", zipped(readme__txt=b"hello"), "holds no pair"),
    "an archive with broken data": (
        "pairs.zip",
        _archive.replace(_archive[40:60], bytes(255 - byte for byte in _archive[40:60])),
        "not a zip file that can be read",
    ),
    "an encrypted archive": ("pairs.zip", bytes(_encrypted), "not a zip file that can be read.*encrypted"),
    "a member that is no JSON": (
        "pairs.zip",
        zipped(a__jsonl=b"hello\n"),
        "pairs.zip/a.jsonl:1: not a line of JSON",
    ),
    "a member with a pair twice": (
        "pairs.zip",
        zipped(a__jsonl=as_jsonl(MINIMAL, MINIMAL)),
        "a.jsonl:2: the pair 0",
    ),
    "a member in Latin-1": ("pairs.zip", zipped(a__jsonl=b'{"a": "caf\xe9"}\n'), "byte 0xe9 is not utf-8"),
    **_damaged("pairs.jsonl", as_jsonl(MINIMAL)),
}


def bomb(path: Path, members: int, size: int) -> None:
    """An archive whose members unpack to `size` bytes each, of one line."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            with archive.open(f"{number}.jsonl", "w", force_zip64=True) as file:
                for _ in range(size >> 20):
                    file.write(bytes(1 << 20).replace(b"\0", b" "))
