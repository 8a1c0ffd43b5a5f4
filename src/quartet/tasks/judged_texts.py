"""Sets of texts or pairs that people labelled or scored: which columns hold what, and one reader for all of them.

A set is a `ColumnMap`. Its files may be JSON lines, Parquet, or tables (of tabs without quoting, or ``.csv``) with or
without a line of names. The library `datasets` is not used for them: it fills up rows that are too short, and names no
line of what it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.tasks.set_files import (
    Example,
    FileRow,
    SetFormat,
    cells,
    check_columns,
    check_once,
    csv_cells,
    json_rows,
    label_of,
    number_of,
    parquet_rows,
    score_of,
    text_of,
)

#: What the columns of a table without a line of names are called; "" is not read.
FIRST, SECOND, GOLD = "the first sentence", "the second sentence", "the label or score"
#: At the end of such columns: others may follow.
MORE = "..."
#: Where lines with another number of columns are passed over: at most one in so many.
BROKEN = 1000

#: Columns whose values are parts of a set: a file is one part.
PARTS = ("split", "SemEval_set", "language", "lang")


@dataclass(frozen=True)
class Columns:
    """The columns that are read of a file with names.

    Attributes:
        texts: of the text, or of the two texts.
        label, score: of what people said; "" where there is none.
        key: of what no two examples share.
        number: of the example's number; a file may lack it.
        times: what makes the file's scores those of the set: 5 where 0 to 1 are written and 0 to 5 are meant.
        beside: what else such a file has, where others have the same columns and mean something else.
    """

    texts: tuple[str, ...]
    label: str = ""
    score: str = ""
    key: str = ""
    number: str = ""
    times: float = 1.0
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.needed)) < len(self.needed):
            raise ValueError(f"a column is named twice in {self.needed}")

    @property
    def needed(self) -> tuple[str, ...]:
        """All but the number."""
        return tuple(filter(None, (*self.texts, self.label, self.score, self.key, *self.beside)))


#: (place, cells by column, the columns that count).
PlacedRow = tuple[str, FileRow, Columns]
PlacedCells = tuple[str, list[str]]


@dataclass(frozen=True)
class ColumnMap:
    """How the files of a set are written.

    Attributes:
        hub: the columns of JSON lines and Parquet; the first fit counts, here and below.
        table: those of tables whose first line names them.
        bare: the columns of tables without names, in order: `FIRST`, `SECOND`, `GOLD`, "" and `MORE`.
        csv: the same with commas.
        labels: in the order of their numbers; () where a score is given. A first letter stands for its label.
        scores: the lowest and the highest.
        unjudged: what stands for a label or a score of examples that are passed over, because nobody judged them.
        hidden: what stands for one that is not published.
        last: a pattern of columns that a line may end before.
        loose: a text may be empty, and a few lines may have another number of columns.
        remedy: what makes a table of another form, in which the set is published too, one of this.
    """

    hub: tuple[Columns, ...] = ()
    table: tuple[Columns, ...] = ()
    bare: tuple[tuple[str, ...], ...] = ()
    csv: tuple[tuple[str, ...], ...] = ()
    labels: tuple[str, ...] = ()
    scores: tuple[float, float] = (0.0, 5.0)
    unjudged: tuple[object, ...] = ()
    hidden: tuple[object, ...] = ()
    last: str = ""
    loose: bool = False
    remedy: str = ""

    def __post_init__(self) -> None:
        if not self.labels and any(one.label for one in (*self.hub, *self.table)):
            raise ValueError("columns of labels need their labels; a number that people gave is a score")


@dataclass(frozen=True)
class JudgedTexts:
    """An example.

    Attributes:
        place: the file and the line.
        texts: one or two.
        label, score: what people said; None where that is hidden, or the set has none.
        number: as the file has it; None where it has none.
    """

    place: str
    texts: tuple[str, ...]
    label: str | None
    score: float | None
    number: Any


def _one_part(rows: Iterable[PlacedRow | None]) -> Iterator[PlacedRow | None]:
    """The rows as they are.

    Raises:
        InputError: a column that tells parts of a set apart, and is not read, holds more than one value.
    """
    first: dict[str, Any] = {}
    for found in rows:
        if found is not None:
            place, row, columns = found
            for name in PARTS:
                value = row.get(name)
                if value is None or name in (*columns.needed, columns.number):
                    continue
                if first.setdefault(name, value) != value:
                    raise InputError(
                        place,
                        f"the column {name} holds {first[name]!r:.40} and {value!r:.40}, and one file is one part",
                        f"write a file of each {name} with the lines of that alone",
                    )
        yield found


def judged_texts(path: Path, files: ColumnMap) -> Iterator[JudgedTexts | None]:
    """Yield the examples of a file; None for each that is passed over, because nobody judged it or its line is broken.

    Raises:
        InputError: the file is malformed, a key occurs again, or too many lines are broken.
    """
    seen: set[str] = set()
    for found in _one_part(_rows(path, files)):
        if found is None:
            yield None
            continue
        place, row, columns = found
        gold = row.get(columns.label or columns.score)
        gold = gold.strip() if isinstance(gold, str) else gold
        if gold in files.unjudged:
            yield None
            continue
        if columns.key:
            if (key := str(row[columns.key])) in seen:
                raise InputError(place, f"the pair {key} is there already")
            seen.add(key)
        hidden = gold in files.hidden
        yield JudgedTexts(
            place,
            tuple(_text(row, column, place, files.loose) for column in columns.texts),
            None if hidden or not columns.label else _label(row[columns.label], files, place),
            None if hidden or not columns.score else _score(row[columns.score], columns.times, files, place),
            row.get(columns.number),
        )


def set_format(
    make: Callable[[JudgedTexts], Example], files: ColumnMap, splits: tuple[str, ...], obtain: str
) -> SetFormat[Example]:
    """A set each example of which is made of one that was read; a file must hold one at least."""

    def read(path: Path) -> Iterator[Example]:
        empty = True
        for one in judged_texts(path, files):
            if one is not None:
                empty = False
                yield make(one)
        if empty:
            raise InputError(path, f"holds no pair with a {'label' if files.labels else 'score'}")

    return SetFormat(read, splits, obtain, passed_over(files))


def passed_over(files: ColumnMap) -> Callable[[Path], int] | None:
    """What counts the examples of a file that are passed over; None where none can be."""
    if not files.unjudged and not files.loose:
        return None
    return lambda path: sum(one is None for one in judged_texts(path, files))


def _text(row: FileRow, column: str, place: str, may_be_empty: bool) -> str:
    value = row[column]
    empty = may_be_empty and isinstance(value, str) and not value.strip()
    return "" if empty else text_of(row, column, place)


def _label(value: Any, files: ColumnMap, place: str) -> str:
    if isinstance(value, str) and value not in files.labels:
        value = {label[0]: label for label in files.labels}.get(value, value)
    return label_of(value, files.labels, place)


def _score(value: Any, times: float, files: ColumnMap, place: str) -> float:
    low, high = files.scores
    score = number_of(value, place)
    if times != 1 and high / times < score <= high:
        reason = f"the score {score:g} is not within {low / times:g} and {high / times:g}"
        raise InputError(place, reason, f"call a column of scores up to {high:g} label")
    return times * score_of(score, low / times, high / times, place)


def _rows(path: Path, files: ColumnMap) -> Iterator[PlacedRow | None]:
    hub = path.suffix == ".parquet"
    if not hub and not {".json", ".jsonl"} & set(path.suffixes):
        yield from _table(path, files)
        return
    if not files.hub:
        raise InputError(path, "this set is read from tables alone", "write it as a .tsv or .csv")
    columns: Columns | None = None
    for place, row in parquet_rows(path, ()) if hub else json_rows(path, ()):
        if columns is None and (columns := _known(files.hub, row)) is None:
            raise _unknown(files.hub, list(row), place, files.hidden)
        check_columns(row, columns.needed, place)
        yield place, row, columns


def _table(path: Path, files: ColumnMap) -> Iterator[PlacedRow | None]:
    """The rows of a table; None for a broken line."""
    names, columns, lines = _opened(path, files)
    total = broken = 0
    for place, row in lines:
        total += 1
        missing = names[len(row) :]
        if missing and files.last and all(re.fullmatch(files.last, name) for name in missing):
            row = [*row, *[""] * len(missing)]
        if _fits(row, names):
            yield place, dict(zip(names, row, strict=False)), columns
        elif files.loose:
            broken += 1
            yield None
        else:
            wanted = f"the first line has {len(names)}"
            if names[-1] == MORE:
                wanted = f"{len(names) - 1} were expected"
            raise InputError(place, f"{len(row)} columns, {wanted}")
    if broken * BROKEN > total:
        raise InputError(path, f"{broken} of {total} lines are broken (they have another number of columns)")


def _opened(path: Path, files: ColumnMap) -> tuple[tuple[str, ...], Columns, Iterator[PlacedCells]]:
    """What the columns of a table are called, those that count, and the lines of its examples.

    A ``.csv`` has commas, or tabs where its first line then fits.
    """
    if not files.table and not files.bare and not files.csv:
        raise InputError(
            path, "this set is read from JSON lines and Parquet alone", "name it .jsonl if it is that"
        )
    commas = ".csv" in path.suffixes
    for read, bare in ((cells, files.bare), (csv_cells, files.csv or files.bare))[: 1 + commas]:
        lines = read(path)
        place, first = next(lines, ("", []))
        if not first:
            raise InputError(path, "is empty")
        names = tuple(name.strip() for name in first)
        if columns := _known(files.table, names):
            check_once(names, (*columns.needed, columns.number), place)
            return names, columns, lines
        fitting = [one for one in bare if _fits(first, one)]
        found = [one for one in fitting if _is_judgement(first[one.index(GOLD)].strip(), files)]
        if found:
            break
    if not found and files.table and not (commas and files.csv):
        raise _unknown(files.table, names, place)
    if not fitting:
        wanted = " or ".join(str(len(one)) for one in bare)
        raise InputError(place, f"{len(first)} columns, {wanted} were expected", files.remedy)
    names = (found or fitting)[0]
    texts = tuple(name for name in (FIRST, SECOND) if name in names)
    columns = Columns(texts, label=GOLD) if files.labels else Columns(texts, score=GOLD)
    return names, columns, chain([(place, first)], lines)


def _fits(row: Sequence[str], names: Sequence[str]) -> bool:
    return len(row) >= len(names) - 1 if names[-1] == MORE else len(row) == len(names)


def _known(columns: Iterable[Columns], names: Container[str]) -> Columns | None:
    """The first whose columns are all there."""
    return next((one for one in columns if all(name in names for name in one.needed)), None)


def _is_judgement(cell: str, files: ColumnMap) -> bool:
    """Whether it may be a label by its name, letter or number, or a score."""
    if cell in (*files.labels, *files.unjudged, *(label[0] for label in files.labels)):
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _unknown(
    columns: Sequence[Columns], found: Sequence[str], place: str, hidden: Sequence[object] = ()
) -> InputError:
    """What is missing, of what the file comes nearest to; a column of labels may be full of what is `hidden`."""
    missing = [[name for name in one.needed if name not in found] for one in columns]
    fewest = min(map(len, missing))
    wanted = dict.fromkeys(", ".join(names) for names in missing if len(names) == fewest)
    unlabelled = any(
        set(names) <= {one.label, one.score} for names, one in zip(missing, columns, strict=True)
    )
    return InputError(
        place,
        f"no column {' or '.join(wanted)}; there are {', '.join(found) or 'none':.200}",
        f"fill one with {hidden[0]} where labels are hidden" if hidden and unlabelled else "",
    )
