"""From a file's entries to lists: what is refused ends the reading, or is counted where that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from quartet.errors import InputError
from quartet.nbest.types import NBest


@dataclass(frozen=True)
class Files:
    """What one set of lists is read from.

    Attributes:
        hypotheses: the lists, or their texts where the scores are in other files.
        scores: files of costs with the weight of each (Kaldi); () for formats that hold their own scores.
        references: a file of references, which then stand in the place of any that the lists hold.
        beam: hypotheses a list, for formats that only count (NeMo).
    """

    hypotheses: Path
    scores: tuple[tuple[Path, float], ...] = ()
    references: Path | None = None
    beam: int | None = None

    @property
    def paths(self) -> list[Path]:
        """Every file."""
        named = [self.hypotheses, *(path for path, _ in self.scores)]
        return named if self.references is None else [*named, self.references]


@dataclass(frozen=True)
class Entry:
    """One list of a file, or why it is none.

    Attributes:
        place: the file, and the line or utterance.
        found: the list, or the error that says what is wrong with it.
        line: its first line, in formats of lines.
    """

    place: str
    found: NBest | InputError
    line: int | None = None

    @classmethod
    def of(cls, place: str, make: Callable[[], NBest], line: int | None = None) -> Entry:
        """What `make` gives, or the `InputError` that it raises."""
        try:
            return cls(place, make(), line)
        except InputError as error:
            return cls(place, error, line)


class Names(Enum):
    """What a format calls its utterances, and so how a plain text file of references belongs to them."""

    OWN = "each has a name: the references are lines of name and text"
    IDS = "numbers from 0 that the file states: the references are lines, as many as needed or more"
    ORDER = "their place in the file, from 1: the references are as many lines"

    @property
    def first(self) -> int | None:
        """The number of the first line of references; None where lines have names."""
        return {Names.OWN: None, Names.IDS: 0, Names.ORDER: 1}[self]


@dataclass(frozen=True)
class Format:
    """How one kind of file is read.

    Attributes:
        entries: gives every entry of the files, in their order. It raises `InputError` only where nothing can
            be read at all: no such file, broken compression, broken syntax of a file that is one JSON value.
        names: what it calls its utterances.
        scores: whether costs are in files of their own.
        beam: whether the number of hypotheses must be told.
    """

    entries: Callable[[Files], Iterator[Entry]]
    names: Names = Names.OWN
    scores: bool = False
    beam: bool = False


@dataclass(frozen=True)
class Reading:
    """The lists of a set, and what was refused on the way.

    Attributes:
        lists: at least one; all have first-pass scores, or none has.
        entries: how many lists the files hold, counted as they came: those of `lists` and those `refused`.
        refused: one error an entry that is no list.
        references_refused: one error a line or key of the reference file that is none.
        references_unused: references of utterances that no list has.
    """

    lists: list[NBest]
    entries: int
    refused: tuple[InputError, ...] = ()
    references_refused: tuple[InputError, ...] = ()
    references_unused: int = 0


def collect(entries: Iterable[Entry], path: str | Path, skip: bool = False) -> Reading:
    """The lists among the entries of a whole file.

    Of lists with the same utterance the first stays and the others are refused, and so are lists without
    scores after a first one with scores, and the other way round: ranks and log-probabilities cannot be
    weighed against a language model with one weight.

    Args:
        path: the file, for the message that it holds nothing.
        skip: refused entries are counted and left out; else the first one ends the reading.

    Raises:
        InputError: an entry is refused and `skip` is off, or no list is left.
    """
    lists: list[NBest] = []
    seen: dict[str, int | None] = {}
    refused: list[InputError] = []
    count = 0
    for entry in entries:
        count += 1
        found = entry.found
        if isinstance(found, NBest):
            found = _consistent(found, entry.place, lists, seen)
        if isinstance(found, NBest):
            lists.append(found)
            seen[found.utterance] = entry.line
        elif skip:
            refused.append(found)
        else:
            raise found
    if not lists:
        reason = f"all of its {count} entries were refused, the first: {refused[0]}" if refused else ""
        raise InputError(path, reason or "holds no N-best list")
    assert count == len(lists) + len(refused)
    return Reading(lists, count, tuple(refused))


def _consistent(
    one: NBest, place: str, lists: list[NBest], seen: dict[str, int | None]
) -> NBest | InputError:
    """The list, or why it cannot stand beside those before it."""
    if one.utterance in seen:
        line = seen[one.utterance]
        return InputError(place, "occurs twice" + (f", first on line {line}" if line else ""))
    if lists and one.ranked_only != lists[0].ranked_only:
        has, others = ("no scores", "some") if one.ranked_only else ("scores", "none")
        return InputError(place, f"has {has} and the lists before it have {others}")
    return one


@dataclass(frozen=True)
class References:
    """A file of references.

    Attributes:
        texts: by utterance; None where the file says that there is none.
        refused: errors of what was left out.
        lines: how many lines there are, where lines are counted and have no names.
    """

    texts: Mapping[str, str | None]
    refused: tuple[InputError, ...] = ()
    lines: int | None = None


def attach(reading: Reading, references: References, names: Names, path: str | Path) -> Reading:
    """The lists with the references of a file in the place of their own; a list that it lacks has none.

    Raises:
        InputError: the file has nothing for any list, or its lines cannot belong to them: too few, or for
            utterances that are only counted another number.
    """
    lines = references.lines
    if lines is not None and names is Names.ORDER and lines != reading.entries:
        raise InputError(path, f"has {lines} lines for {reading.entries} lists")
    if lines is not None and names is Names.IDS:
        last = max(int(one.utterance) for one in reading.lists)
        if last >= lines:
            raise InputError(path, f"has {lines} lines, and the lists go up to number {last} (from 0)")
    utterances = {one.utterance for one in reading.lists}
    unused = sum(utterance not in utterances for utterance in references.texts)
    if unused == len(references.texts):
        theirs = ", ".join(f'"{name}"' for name in list(references.texts)[:2])
        ours = f'the lists\' are like "{reading.lists[0].utterance}"'
        reason = (
            f"none of its utterances ({theirs}, ...) is one of the lists'; {ours}" if theirs else "is empty"
        )
        raise InputError(path, reason)
    lists = [replace(one, reference=references.texts.get(one.utterance)) for one in reading.lists]
    return replace(reading, lists=lists, references_refused=references.refused, references_unused=unused)
