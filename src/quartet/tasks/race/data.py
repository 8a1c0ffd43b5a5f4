"""Passages of English examinations with questions of four options: RACE.

The Segatron paper's Table 7 is measured on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from quartet.errors import InputError
from quartet.tasks.set_files import (
    SetFormat,
    SetKind,
    json_document,
    json_rows,
    label_of,
    parquet_rows,
    text_of,
)

#: Options by their letters.
LETTERS = ("A", "B", "C", "D")
SchoolLevel = Literal["middle", "high"]
LEVELS: tuple[SchoolLevel, ...] = ("middle", "high")

_COLUMNS = ("article", "questions", "options", "answers", "id")


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question with its passage.

    Attributes:
        article_id: e.g. "high1021.txt".
        number: of the question in its passage, from 0.
        passage: paragraphs between line ends.
        text: what is asked, or a sentence with a blank ("_").
        options: four.
        answer: the right one, 0 to 3.
        level: of the examination: ``middle`` school or ``high`` school.
    """

    article_id: str
    number: int
    passage: str
    text: str
    options: tuple[str, ...]
    answer: int
    level: SchoolLevel

    @property
    def id(self) -> str:
        """A name that no other question of the set has."""
        return f"{self.article_id}-{self.number}"


def read_race(path: Path) -> Iterator[ChoiceQuestion]:
    """Yield the questions of a split of RACE, passage by passage; the level is the beginning of a passage's id.

    Three forms: a folder as published (``middle/<n>.txt`` and ``high/<n>.txt``, each one JSON object with article,
    questions, options, answers and id); such objects one a line, plain or ``.gz``; and ``.parquet`` (ehovy/race:
    example_id, article, question, options, answer, a question a row).

    Raises:
        InputError: a file is malformed, a passage occurs again, or it has not as many options and answers as questions.
    """
    if path.is_dir():
        articles: Iterator[tuple[str, Mapping[str, Any]]] = _folder(path)
    elif path.suffix == ".parquet":
        yield from _hub(path)
        return
    else:
        articles = json_rows(path, _COLUMNS)
    seen: set[str] = set()
    for place, row in articles:
        name = text_of(row, "id", place)
        if name in seen:
            raise InputError(place, f"the passage {name} is there already")
        seen.add(name)
        yield from _questions(place, name, row)


def _folder(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(place, object) of a published folder, by level and number."""
    files = [file for level in LEVELS for file in (path / level).glob("*.txt")]
    if not files:
        raise InputError(path, "holds no middle/<n>.txt or high/<n>.txt", "name the folder of one split")
    for file in sorted(files, key=lambda file: (LEVELS.index(_level(file.parent.name, file)), _number(file))):
        row = json_document(file)
        missing = [name for name in _COLUMNS if not isinstance(row, dict) or name not in row]
        if missing:
            raise InputError(file, f"no {', '.join(missing)}: not a passage of RACE")
        if not text_of(row, "id", str(file)).startswith(file.parent.name):
            raise InputError(file, f"its id {row['id']} is of another level than its folder")
        yield str(file), row


def _number(file: Path) -> tuple[int, str]:
    return (int(file.stem) if file.stem.isdecimal() else 0, file.name)


def _hub(path: Path) -> Iterator[ChoiceQuestion]:
    """The hub's rows, which repeat the passage for each of its questions."""
    counts: Counter[str] = Counter()
    passages: dict[str, str] = {}
    for place, row in parquet_rows(path, ("example_id", "article", "question", "options", "answer")):
        name, passage = text_of(row, "example_id", place), text_of(row, "article", place)
        if passages.setdefault(name, passage) != passage:
            raise InputError(place, f"another passage has the id {name} already")
        yield _question(
            place, name, counts[name], passages[name], row["question"], row["options"], row["answer"]
        )
        counts[name] += 1


def _questions(place: str, name: str, row: Mapping[str, Any]) -> Iterator[ChoiceQuestion]:
    passage = text_of(row, "article", place)
    columns = [row[key] for key in ("questions", "options", "answers")]
    for key, column in zip(("questions", "options", "answers"), columns, strict=True):
        if not isinstance(column, list):
            raise InputError(place, f"{key} is {type(column).__name__}, a list was expected")
    if len({len(column) for column in columns}) > 1:
        counts = ", ".join(str(len(column)) for column in columns)
        raise InputError(place, f"questions, options and answers are {counts}")
    for number, (text, options, answer) in enumerate(zip(*columns, strict=True)):
        yield _question(f"{place}: question {number + 1}", name, number, passage, text, options, answer)


def _question(
    place: str, name: str, number: int, passage: str, text: Any, options: Any, answer: Any
) -> ChoiceQuestion:
    if not isinstance(options, list) or len(options) != len(LETTERS):
        raise InputError(place, f"{len(LETTERS)} options were expected, not {options!r}")
    texts = dict(zip(LETTERS, options, strict=True))
    return ChoiceQuestion(
        article_id=name,
        number=number,
        passage=passage,
        text=text_of({"the question": text}, "the question", place),
        options=tuple(text_of(texts, letter, place) for letter in LETTERS),
        answer=LETTERS.index(label_of(answer, LETTERS, place)),
        level=_level(name, place),
    )


def _level(name: str, place: object) -> SchoolLevel:
    for level in LEVELS:
        if name.startswith(level):
            return level
    raise InputError(place, f'the id "{name}" does not begin with {" or ".join(LEVELS)}')


FORMATS: dict[str, SetFormat[ChoiceQuestion]] = {
    "race": SetFormat(
        read_race,
        tuple(f"{split}{part}" for split in ("train", "dev", "test") for part in ("", "_middle", "_high")),
        "ehovy/race on the Hugging Face hub, or www.cs.cmu.edu/~glai1/data/race (RACE.tar.gz: a folder a split)",
    ),
}

KIND = SetKind("race", FORMATS)
