"""Questions whose answers are spans of a paragraph: SQuAD 1.1 and 2.0.

The Segatron paper's Table 6 is measured on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from quartet.errors import InputError
from quartet.tasks.set_files import SetFormat, SetKind, json_document, parquet_rows, text_of

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Answer:
    """A span of the context.

    Attributes:
        text: context[start : start + len(text)].
        start: its first character.
    """

    text: str
    start: int


@dataclass(frozen=True)
class SpanQuestion:
    """A question with its context.

    Attributes:
        id: the set's own.
        title: of the article; "" where the file gives none.
        context: a paragraph of the article, as it stands in the file: the answers count its characters.
        text: what is asked.
        answers: what people marked; () for a question that the context does not answer (2.0).
    """

    id: str
    title: str
    context: str
    text: str
    answers: tuple[Answer, ...]


def read_squad1(path: Path) -> Iterator[SpanQuestion]:
    """Yield the questions of a split of SQuAD 1.1; each has an answer.

    Two forms: the official JSON (``train-v1.1.json``, ``dev-v1.1.json``; also gzipped), and ``.parquet``
    (rajpurkar/squad: id, title, context, question, answers).

    Raises:
        InputError: the file is malformed, a question's id occurs again, an answer is not what the context has at its
            place, or a question has no answer.
    """
    return _read(path, may_be_impossible=False)


def read_squad2(path: Path) -> Iterator[SpanQuestion]:
    """Yield the questions of a split of SQuAD 2.0; those marked ``is_impossible`` have no answers.

    The forms are those of :func:`read_squad1` (hub: rajpurkar/squad_v2). ``plausible_answers`` are passed over.

    Raises:
        InputError: as :func:`read_squad1`; or a question does not say whether it is impossible, or says one thing and
            has the other.
    """
    return _read(path, may_be_impossible=True)


def _read(path: Path, may_be_impossible: bool) -> Iterator[SpanQuestion]:
    seen: set[str] = set()
    rows = _hub if path.suffix == ".parquet" else _official
    for place, question, impossible in rows(path):
        if question.id in seen:
            raise InputError(place, "this id is there already")
        seen.add(question.id)
        _check(place, question, impossible, may_be_impossible)
        yield question


def _hub(path: Path) -> Iterator[tuple[str, SpanQuestion, bool | None]]:
    """(place, question, whether it is impossible) of the hub's table, where no answers say that it is."""
    for place, row in parquet_rows(path, ("id", "title", "context", "question", "answers")):
        found = _of(dict, row, "answers", place)
        texts, starts = (_of(list, found, key, place) for key in ("text", "answer_start"))
        if len(texts) != len(starts):
            raise InputError(place, f"{len(texts)} texts of answers and {len(starts)} places")
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
        title = str(row["title"] or "")
        yield place, _question(place, row, title, _of(str, row, "context", place), answers), not answers


def _official(path: Path) -> Iterator[tuple[str, SpanQuestion, bool | None]]:
    """(place, question, what it says of being impossible) of the official JSON."""
    whole = json_document(path)
    if not isinstance(whole, dict):
        raise InputError(path, f"not in SQuAD's form: {type(whole).__name__} where an object was expected")
    for number, article in enumerate(_of(list, whole, "data", str(path)), start=1):
        place = f"{path}: article {number}"
        title = str(_object(article, place).get("title") or "")
        for paragraph in _of(list, article, "paragraphs", place):
            context = _of(str, _object(paragraph, place), "context", place)
            for entry in _of(list, paragraph, "qas", place):
                name = _of(str, _object(entry, place), "id", place)
                where = f"{path}: question {name}"
                answers = _of(list, entry, "answers", where)
                impossible = entry.get("is_impossible")
                if impossible is not None and not isinstance(impossible, bool):
                    raise InputError(where, f"is_impossible is {impossible!r}, true or false was expected")
                yield where, _question(where, entry, title, context, answers), impossible


def _question(
    place: str, row: Mapping[str, Any], title: str, context: str, answers: list[Any]
) -> SpanQuestion:
    if not context.strip():
        raise InputError(place, "the context is empty")
    return SpanQuestion(
        text_of(row, "id", place),
        title,
        context,
        text_of(row, "question", place),
        tuple(
            Answer(_of(str, _object(one, place), "text", place), _of(int, one, "answer_start", place))
            for one in answers
        ),
    )


def _check(place: str, question: SpanQuestion, impossible: bool | None, may_be_impossible: bool) -> None:
    if may_be_impossible:
        if impossible is None:
            raise InputError(place, "does not say is_impossible", "a file of version 1.1 is format squad1")
        if impossible == bool(question.answers):
            raise InputError(
                place, f"is_impossible is {impossible} and it has {len(question.answers)} answers"
            )
    elif not question.answers:
        raise InputError(place, "has no answer", "a file of version 2.0 is format squad2")
    for answer in question.answers:
        if not answer.text.strip():
            raise InputError(place, "an answer is empty")
        stop = answer.start + len(answer.text)
        found = question.context[max(0, answer.start) : stop]
        if answer.start < 0 or found != answer.text:
            raise InputError(
                place, f'the answer "{answer.text}" is not at character {answer.start}: there is "{found}"'
            )


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(place, f"{type(value).__name__} where an object was expected")
    return value


def _of(kind: type[Kind], row: Mapping[str, Any], key: str, place: str) -> Kind:
    """A member that must be of a type."""
    if key not in row:
        raise InputError(place, f"has no {key}")
    value = row[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(place, f"{key} is {type(value).__name__}, {kind.__name__} was expected")
    return value


#: ``all``: a file that is no split of its own, of which the last articles are held out.
_ROLES = ("train", "dev", "all")

FORMATS: dict[str, SetFormat[SpanQuestion]] = {
    "squad1": SetFormat(
        read_squad1,
        _ROLES,
        "rajpurkar/squad on the Hugging Face hub, or train-v1.1.json and dev-v1.1.json of "
        "rajpurkar.github.io/SQuAD-explorer",
    ),
    "squad2": SetFormat(
        read_squad2,
        _ROLES,
        "rajpurkar/squad_v2 on the Hugging Face hub, or train-v2.0.json and dev-v2.0.json of "
        "rajpurkar.github.io/SQuAD-explorer",
    ),
}

KIND = SetKind("squad", FORMATS)
