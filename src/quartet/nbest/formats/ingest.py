"""From a file's entries to lists: what is refused ends the reading, or is counted where that was asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from quartet.config.choices import ScoreMeaning
from quartet.errors import InputError
from quartet.nbest.formats.references import (
    NAME_LINES,
    WRITE_LINES,
    WRITE_NAMES,
    NamedReference,
    OrderedReference,
    ReferenceFile,
)
from quartet.nbest.guards import look_like_names
from quartet.nbest.normalise import name_key
from quartet.nbest.types import Hypothesis, NBest

#: An utterance's name as it is spelled, and its text; None: not counted.
UtteranceText = tuple[str, str | None]
#: Where numbers of utterances leave out more than this beside the lists, they do not count from 0.
MOST_MISSING = 100_000
#: How every interface is told that lost utterances do not count.
LEAVE_OUT = "leave missing lists out (--skip-missing, skip_missing: true)"
FROM_0 = "number the lists from 0"
SAY_WHICH = (
    "say what they are: costs, where smaller is better, or scores (--scores-are costs, scores_are: costs)"
)
#: The share of steps within lists from which on their numbers are costs, best first, and not scores in any order.
#: Where the beam is told, lists are best first, and another beam mixes them.
RISING, RISING_IN_BEAMS = 0.75, 0.5
AUDIO = re.compile(r"\.(?:wav|flac|mp3|ogg|opus|m4a|sph|webm)$", re.IGNORECASE)


@dataclass(frozen=True)
class NBestFiles:
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

    def __post_init__(self) -> None:
        """Names of files are taken in the place of paths."""
        object.__setattr__(self, "hypotheses", Path(self.hypotheses))
        object.__setattr__(self, "scores", tuple((Path(path), weight) for path, weight in self.scores))
        if self.references is not None:
            object.__setattr__(self, "references", Path(self.references))

    @property
    def paths(self) -> list[Path]:
        """Every file."""
        named = [self.hypotheses, *(path for path, _ in self.scores)]
        return named if self.references is None else [*named, self.references]


@dataclass(frozen=True)
class ListEntry:
    """One list of a file, or why it is none.

    Attributes:
        place: the file, and the line or utterance.
        found: the list, or the error that says what is wrong with it.
        line: its first line, in formats of lines.
        utterance: the name of what is no list, where it can be read.
    """

    place: str
    found: NBest | InputError
    line: int | None = None
    utterance: str | None = None

    @classmethod
    def of(
        cls, place: str, make: Callable[[], NBest], line: int | None = None, utterance: str | None = None
    ) -> ListEntry:
        """What `make` gives, or the `InputError` that it raises."""
        try:
            return cls(place, make(), line, utterance)
        except InputError as error:
            return cls(place, error, line, utterance)


class UtteranceNames(Enum):
    """What a format calls its utterances, and so how texts without names belong to them."""

    OWN = "each has a name, and such texts belong to none"
    IDS = "numbers from 0 that the file states: text n + 1 is that of number n"
    ORDER = "their place in the file from 1, where they have no names: as many texts, in the same order"


@dataclass(frozen=True)
class NBestFormat:
    """How one kind of file is read.

    Attributes:
        entries: gives every entry of the files, in their order. It raises `InputError` only where nothing can
            be read at all: no such file, broken compression, broken syntax of a file that is one JSON value.
        names: what it calls its utterances.
        scores: whether costs are in files of their own.
        beam: whether the number of hypotheses must be told.
        check: raises `InputError` where what was told of lists that can be read contradicts their scores.
    """

    entries: Callable[[NBestFiles], Iterator[ListEntry]]
    names: UtteranceNames = UtteranceNames.OWN
    scores: bool = False
    beam: bool = False
    check: Callable[[NBestFiles], None] | None = None


@dataclass(frozen=True)
class IngestedLists:
    """The lists of a set, and what was refused on the way.

    Attributes:
        lists: at least one; all have first-pass scores, or none has.
        entries: how many lists the files hold, counted as they came: those of `lists` and those `refused`.
        places: of each of `lists` the number of its entry, from 1.
        refused: one error an entry that is no list.
        refused_names: the utterances of `refused`, where they can be read.
        references_refused: one error a line or key of the reference file that is none.
        references_unused: references of utterances without a list that count in nothing.
        missing: utterances of which there is a reference, or a number in a gap, and no list: an empty hypothesis stands
            for what the first pass lost, at the end of `lists` or, where utterances are numbers, in its place.
    """

    lists: list[NBest]
    entries: int
    places: tuple[int, ...]
    refused: tuple[InputError, ...] = ()
    refused_names: frozenset[str] = frozenset()
    references_refused: tuple[InputError, ...] = ()
    references_unused: int = 0
    missing: tuple[str, ...] = ()


def collect(entries: Iterable[ListEntry], path: str | Path, skip: bool = False) -> IngestedLists:
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
    places: list[int] = []
    seen: dict[str, int | None] = {}
    refused: list[InputError] = []
    refused_names = set()
    count = 0
    for entry in entries:
        count += 1
        found = entry.found
        if isinstance(found, NBest):
            found = _consistent(found, entry.place, lists, seen)
        if isinstance(found, NBest):
            lists.append(found)
            places.append(count)
            seen[name_key(found.utterance)] = entry.line
        elif skip:
            refused.append(found)
            if entry.utterance is not None:
                refused_names.add(name_key(entry.utterance))
        else:
            raise found
    if not lists:
        reason = f"all of its {count} entries were refused, the first: {refused[0]}" if refused else ""
        raise InputError(path, reason or "holds no N-best list")
    assert count == len(lists) + len(refused)
    return IngestedLists(lists, count, tuple(places), tuple(refused), frozenset(refused_names))


def _consistent(
    one: NBest, place: str, lists: list[NBest], seen: dict[str, int | None]
) -> NBest | InputError:
    """The list, or why it cannot stand beside those before it."""
    if name_key(one.utterance) in seen:
        line = seen[name_key(one.utterance)]
        return InputError(place, "occurs twice" + (f", first on line {line}" if line else ""))
    if lists and one.ranked_only != lists[0].ranked_only:
        has, others = ("no scores", "some") if one.ranked_only else ("scores", "none")
        return InputError(place, f"has {has} and the lists before it have {others}")
    return one


def orient_scores(
    reading: IngestedLists,
    path: str | Path,
    scores_are: ScoreMeaning | None,
    costs: bool = False,
    beam: int | None = None,
) -> IngestedLists:
    """The lists with scores of which larger is better.

    Args:
        scores_are: what the numbers are, taken at its word. None: what the format has, unless the lists contradict:
            costs that are taken for scores rise where lists are best first (in any order they rise and fall alike), and
            no log-probability is above 0.
        costs: the format has costs, of which the lists hold the negative; they may be of any sign.
        beam: that was given, where it says what a list is: another one may be the fault.

    Raises:
        InputError: the lists contradict, or have ranks alone, which are neither.
    """
    if scores_are is not None and reading.lists[0].ranked_only:
        raise InputError(path, f"has no scores that could be {scores_are}", "do not say what they are")
    rises, falls = (sum(getattr(one, name) for one in reading.lists) for name in ("rises", "falls"))
    if scores_are is None and rises + falls:
        if rises > (RISING if beam is None else RISING_IN_BEAMS) * (rises + falls):
            reason = f"{rises} of {rises + falls} hypotheses have a better score than the one before"
            other = (
                "" if beam is None else f"if the beam is not {beam}, give the right one (--beam, beam), else "
            )
            raise InputError(path, reason, f"{other}{SAY_WHICH}")
        if not costs and all(one.first_pass[-1] >= 0 for one in reading.lists):
            raise InputError(path, "no score is below 0, as the logarithm of a probability is", SAY_WHICH)
    if scores_are is None or (scores_are == "costs") == costs:
        return reading
    turned = [
        NBest(
            one.utterance,
            tuple(replace(each, score=0.0 - (each.score or 0.0)) for each in one.hypotheses),
            one.reference,
        )
        for one in reading.lists
    ]
    return replace(reading, lists=turned)


def attach_references(
    reading: IngestedLists,
    references: ReferenceFile,
    names: UtteranceNames,
    path: str | Path,
    skip: bool = False,
    skip_missing: bool = False,
) -> IngestedLists:
    """The lists with the references of a file in the place of their own; a list that it lacks has none.

    Args:
        references: what the file `path` holds.
        names: what the format calls its utterances.
        skip: malformed references are counted and left out; else the first one ends the reading.
        skip_missing: utterances that have a reference and no list are left out; else see `IngestedLists.missing`.

    Raises:
        InputError: a reference is malformed or its utterance occurs twice, and `skip` is off; the file has nothing
            for any list; its texts cannot belong to them, as they are too few or, for utterances that are only
            counted, another number; or it cannot be told whose they are.
    """
    rows = _by_name(reading, references, names, path)
    texts: dict[str, UtteranceText] = {}
    refused: list[InputError] = []
    for place, row in rows:
        if not isinstance(row, InputError) and name_key(row[0]) in texts:
            row = InputError(
                place, f'utterance "{row[0]}" occurs twice', NAME_LINES if references.plain else ""
            )
        if not isinstance(row, InputError):
            texts[name_key(row[0])] = row
        elif skip:
            refused.append(row)
        else:
            raise row
    ours = {name_key(one.utterance) for one in reading.lists}
    if _have_names(reading, names):
        texts = _without_file_names(texts, ours | reading.refused_names)
    if ours.isdisjoint(texts):
        theirs = ", ".join(f'"{name}"' for name, _ in list(texts.values())[:2])
        reason = f"none of its utterances ({theirs}, ...) is one of the lists', which are like"
        found = f'{reason} "{reading.lists[0].utterance}"' if theirs else "is empty"
        raise InputError(
            path, found, "" if not theirs else WRITE_NAMES if names is UtteranceNames.OWN else WRITE_LINES
        )
    if names is not UtteranceNames.OWN:
        _check_first_number(ours | reading.refused_names, texts, path)
    lists = [
        replace(one, reference=texts.get(name_key(one.utterance), ("", None))[1]) for one in reading.lists
    ]
    lost = {
        name: text
        for key, (name, text) in texts.items()
        if text is not None
        and key not in ours
        and key not in reading.refused_names
        and not skip_missing
        and (names is not UtteranceNames.IDS or key.isdecimal())
    }
    unused = len(texts.keys() - ours) - len(lost)
    attached = replace(reading, lists=lists, references_refused=tuple(refused), references_unused=unused)
    return with_missing(attached, lost, names)


def _check_first_number(ours: Collection[str], theirs: Collection[str], path: str | Path) -> None:
    """Raise InputError where lists are numbered from 0 and references from 1, as many of them, or the other way round:
    each list would have the reference of its neighbour.
    """
    if not all(name.isdecimal() for name in ours):
        return
    last = max(map(int, ours))
    from_0 = "0" in ours
    theirs_from_1 = "0" not in theirs and str(last + 1) in theirs
    theirs_from_0 = "0" in theirs and str(last) not in theirs
    if theirs_from_1 if from_0 else "1" in ours and theirs_from_0:
        reason = f"numbers its texts from {int(from_0)}, and the lists count from {int(not from_0)}"
        raise InputError(path, reason, f"number the references from {int(not from_0)}, in the same order")


def _have_names(reading: IngestedLists, names: UtteranceNames) -> bool:
    """Whether the lists have names. A file such as 3.wav is not the third list: numbers are places, in any order."""
    if names is not UtteranceNames.ORDER:
        return names is UtteranceNames.OWN
    return any(one.utterance != str(place) for one, place in zip(reading.lists, reading.places, strict=True))


def _without_file_names(
    texts: Mapping[str, UtteranceText], known: Collection[str]
) -> dict[str, UtteranceText]:
    """The same texts; a name that is none of the lists' stands without its folder and ending where that is one.

    Where that is another text's name too, it cannot be told whose the list is, and both stay as they are.
    """
    files = {key: _file(key) for key in texts}
    count = Counter(files.values())
    own = {key for key, file in files.items() if key not in known and file in known and count[file] == 1}
    return {files[key] if key in own else key: row for key, row in texts.items()}


def _file(name: str) -> str:
    """An utterance's name without the folder and the ending of its audio file."""
    return AUDIO.sub("", name.replace("\\", "/").rpartition("/")[2])


def with_missing(
    reading: IngestedLists, lost: Mapping[str, str | None], names: UtteranceNames
) -> IngestedLists:
    """The lists with an empty hypothesis for each utterance that the first pass lost; see `IngestedLists.missing`.

    Args:
        lost: references by utterance; None where there is none.
    """
    score = None if reading.lists[0].ranked_only else 0.0
    made = [(NBest(name, (Hypothesis("", score),), text), 0) for name, text in lost.items()]
    both = [*zip(reading.lists, reading.places, strict=True), *made]
    if names is UtteranceNames.IDS:
        both.sort(key=lambda pair: int(pair[0].utterance))
    lists, places = [one for one, _ in both], tuple(place for _, place in both)
    return replace(reading, lists=lists, places=places, missing=tuple(lost))


def gaps(reading: IngestedLists, path: str | Path) -> dict[str, None]:
    """Of utterances that are numbers from 0 those below the last one that have no list and were not refused.

    None where an entry was refused whose number cannot be read: the gap may be its own.

    Raises:
        InputError: there are too many of them to be right, or only 0 is missing before the first one: then it is not
            sure that the lists are numbered from 0.
    """
    if len(reading.refused) > len(reading.refused_names):
        return {}
    numbers = {int(one.utterance) for one in reading.lists} | {int(name) for name in reading.refused_names}
    if min(numbers) == 1:
        remedy = f'{FROM_0}; if list 0 was lost, begin with "0 ||| ||| ||| 0", or {LEAVE_OUT}'
        raise InputError(path, "its numbers begin with 1", remedy)
    if max(numbers) >= len(numbers) + MOST_MISSING:
        reason = f"its numbers go up to {max(numbers)}, and it has {len(numbers)} lists"
        raise InputError(path, reason, f"{FROM_0}, or {LEAVE_OUT}")
    return {str(number): None for number in range(max(numbers)) if number not in numbers}


def _by_name(
    reading: IngestedLists, references: ReferenceFile, names: UtteranceNames, path: str | Path
) -> list[NamedReference]:
    """The references with the names of the lists that they belong to, whichever way they do."""
    named, ordered = references.named, references.ordered
    counted = names is not UtteranceNames.OWN
    if isinstance(named, InputError) or isinstance(ordered, InputError):
        if not isinstance(named, InputError):
            keys = {name_key(row[0]) for _, row in named if not isinstance(row, InputError)}
            ours = {name_key(one.utterance) for one in reading.lists}
            if references.plain and counted and isinstance(ordered, InputError) and ours.isdisjoint(keys):
                raise ordered
            return named
        if isinstance(ordered, InputError) or not counted:
            raise named
        return _numbered(reading, ordered, names, path)
    if not counted:
        return named
    ours = {name_key(one.utterance) for one in reading.lists}
    theirs = [name_key(row[0]) for _, row in named if not isinstance(row, InputError)]
    own = _have_names(reading, names)
    if not references.plain:  # records: what calls itself a name is one
        known = {*theirs, *map(_file, theirs)} if own else set(theirs)
        return _numbered(reading, ordered, names, path) if ours.isdisjoint(known) else named
    all_names = (
        len(set(theirs)) == len(theirs) and (ours <= set(theirs) or ours >= set(theirs)) and bool(theirs)
    )
    if own:
        if all_names:
            return named
        if ours.isdisjoint(theirs):
            return _numbered(reading, ordered, names, path)
        reason = "some of its lines begin with the name of a list, and some do not"
        raise InputError(path, reason, WRITE_NAMES)
    if all_names:
        reason = "its lines begin with the numbers of the lists: are these names, or words?"
        raise InputError(path, reason, "write {number: text} into a .json file")
    lines = [text for _, text in ordered if not isinstance(text, InputError)]
    if first := look_like_names(lines, reading.lists):
        reason = f'its lines begin with names ("{first[0]}", "{first[1]}", ...), and the lists have none'
        raise InputError(path, reason, WRITE_LINES)
    return _numbered(reading, ordered, names, path)


def _numbered(
    reading: IngestedLists, ordered: list[OrderedReference], names: UtteranceNames, path: str | Path
) -> list[NamedReference]:
    """Texts in the lists' order with the lists' names.

    Raises:
        InputError: there are too few of them or, for lists that are only counted, another number.
    """
    if names is UtteranceNames.IDS:
        last = max(int(one.utterance) for one in reading.lists)
        if last >= len(ordered):
            from_1 = last == len(ordered) and all(int(one.utterance) for one in reading.lists)
            reason = f"has {len(ordered)} lines, and the lists go up to number {last} (from 0)"
            either = f"{FROM_0}; if list 0 was lost, give its text a line too"
            raise InputError(path, reason, either if from_1 else WRITE_LINES)
        owners = {number: str(number) for number in range(len(ordered))}
    else:
        if len(ordered) != reading.entries:
            reason = f"has {len(ordered)} lines for {reading.entries} lists"
            raise InputError(path, reason, f"{WRITE_LINES}; {WRITE_NAMES[6:]} where there are names")
        owners = {place - 1: one.utterance for one, place in zip(reading.lists, reading.places, strict=True)}
    return [
        (where, text if isinstance(text, InputError) else (owners[index], text))
        for index, (where, text) in enumerate(ordered)
        if index in owners
    ]
