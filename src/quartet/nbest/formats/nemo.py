"""The beams that NeMo's decoding scripts write as .tsv.

``hypothesis <tab> score``

A line a hypothesis and nothing between the utterances: each has the same number of lines, the beam, which must
be told (`NBestFiles.beam`). Decoders that return fewer now and then (transducers) leave no lists that can be told
apart. The score is a natural log, larger is better. The utterance's name is its place in the file, from 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from rapidfuzz.distance import Levenshtein

from quartet.errors import InputError
from quartet.nbest.formats import text_file
from quartet.nbest.formats.ingest import SAY_WHICH, ListEntry, NBestFiles
from quartet.nbest.types import Hypothesis, NBest

#: See `check_beam`.
CHANCE = 1e-3
#: How many times as much texts differ between utterances as within one, at least.
CHANGE = 1.5


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each run of as many lines as the beam; a rest that is shorter is an error."""
    assert files.beam is not None
    path = files.hypotheses
    read = list(text_file.lines(path))
    for start in range(0, len(read), files.beam):
        yield _entry(str(start // files.beam + 1), read[start : start + files.beam], files.beam, path)


def check_beam(files: NBestFiles) -> None:
    """Raise InputError where the order of the scores tells another beam than that which was given.

    Each list is best first, so where a score is better than the one before it (with costs: worse) a new list begins.
    The number of lines of a list divides the places of all these beginnings. Where they lie inside of lists of the
    given length, that is not the number. Where one of the two is a multiple of the other it could be chance that no
    beginning contradicts; that has to have a probability below `CHANCE`. Scores also fall where utterances are sorted
    by length. There the texts tell: the beam is right where they change from one list to the next.
    """
    assert files.beam is not None
    try:
        read = [_hypothesis(line, "") for _, line in text_file.lines(files.hypotheses)]
    except InputError:
        return  # the lists are not all known
    scores = [one.score or 0.0 for one in read]
    steps = [after - before for before, after in itertools.pairwise(scores)]
    begins = [[place for place, step in enumerate(steps, 1) if sign * step > 0] for sign in (1, -1)]
    told = [math.gcd(len(scores), *places) for places in begins]
    fits = [lines % files.beam == 0 for lines in told]
    for lines, places, fit in zip(told, begins, fits, strict=True):
        contradicts = lines > 1 and (fit or not any(fits))
        if contradicts and _chance(places, lines, files.beam, len(scores)) < CHANCE:
            if lines % files.beam == 0 and _texts_change([one.text for one in read], files.beam, lines):
                continue
            reason = f"lists of {files.beam} do not fit its scores, which begin anew every {lines} lines"
            remedy = f"give the beam {lines} (--beam, beam); else {SAY_WHICH}"
            raise InputError(files.hypotheses, reason, remedy)


def _texts_change(texts: list[str], beam: int, told: int) -> bool:
    """Whether texts differ more from list to list than within lists, where lists of the told length would have none."""
    steps = [
        (place, 1 - Levenshtein.normalized_similarity(before.split(), after.split()))
        for place, (before, after) in enumerate(itertools.pairwise(texts), 1)
    ]
    within = [step for place, step in steps if place % beam]
    between = [step for place, step in steps if place % beam == 0 and place % told]
    return bool(within and between) and fmean(between) > CHANGE * fmean(within)


def _chance(places: list[int], told: int, beam: int, lines: int) -> float:
    """The probability that beginnings that do not depend on `told` are all at its multiples.

    For a beam that is too large these are the beginnings inside of its lists, each at any line. For one that is too
    small they are at the first line of any of its lists. 0 where neither number is a multiple of the other.
    """
    larger, smaller = max(told, beam), min(told, beam)
    if larger % smaller:
        return 0.0
    inside = [place for place in places if place % larger] if beam > told else places
    # of the lines where a beginning may be, those that are a multiple of the number that was told
    if beam > told:
        possible, suitable = lines - lines // beam, lines // told - lines // beam
    else:
        possible, suitable = lines // beam - 1, lines // told - 1
    return math.exp(_log_choices(suitable, len(inside)) - _log_choices(possible, len(inside)))


def _log_choices(of: int, taken: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(taken + 1) - math.lgamma(of - taken + 1)


def is_scored(line: str) -> bool:
    """Whether a line is a text, a tab and a number."""
    _, *fields = line.rstrip("\r").split("\t")
    return len(fields) == 1 and text_file.NUMBER.fullmatch(fields[0].strip(text_file.BLANK)) is not None


def _entry(utterance: str, group: list[tuple[int, str | InputError]], beam: int, path: Path) -> ListEntry:
    place = f"{path}:{group[0][0]}: utterance {utterance}"

    def make() -> NBest:
        hypotheses = tuple(_hypothesis(line, f"{path}:{number}") for number, line in group)
        if len(hypotheses) < beam:
            reason = f"has {len(hypotheses)} of {beam} lines"
            raise InputError(place, reason, "the beam is another, or the file was cut short")
        return NBest(utterance, hypotheses)

    return ListEntry.of(place, make, utterance=utterance)


def _hypothesis(line: str | InputError, place: str) -> Hypothesis:
    if isinstance(line, InputError):
        raise line
    fields = line.split("\t")
    if len(fields) != 2:
        raise InputError(place, f"a text, a tab and a score were expected, not {len(fields)} fields")
    return Hypothesis(fields[0].strip(text_file.BLANK), text_file.number_in(fields[1], place))
