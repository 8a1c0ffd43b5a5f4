"""Signs that lists and references are not what they are taken for, told by their words and not by any list of marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from quartet.errors import InputError
from quartet.nbest.metrics import count_errors
from quartet.nbest.normalise import Normalisation
from quartet.nbest.types import NBest, words
from quartet.text.scripts import words_of

#: Fewer lists than these tell nothing about the others.
LEAST_LISTS = 5
#: Fewer shared words than this share of the references' words are those that any two texts of a language share.
SHARED = 0.02
#: A name has one of these; from `MANY` lines on, different first words that no list has are names whatever they are.
IN_NAMES, MANY = re.compile(r"[\d_-]"), 10

_COUNTED = Normalisation(lowercase=True, strip_punctuation=True)


def look_like_names(lines: Sequence[str], lists: Sequence[NBest]) -> list[str]:
    """The first words of references without names, where they are names after all; else ().

    All differ, none is a word of any hypothesis, and there are many or each has a sign that names have.
    """
    first = [line.split(maxsplit=1)[0] for line in lines if line.split()]
    if len(first) < 2 or len(set(first)) < len(first):
        return []
    if len(first) < MANY and not all(map(IN_NAMES.search, first)):
        return []
    spoken = {word for one in lists for each in one.hypotheses for word in words(each.text.lower())}
    return [] if any(word.lower() in spoken for word in first) else first


def check_shared_words(lists: Sequence[NBest], place: object) -> None:
    """Raise InputError where the lists and their references share almost no words.

    A word of a script without spaces is compared letter by letter.

    Raises:
        InputError: there are `LEAST_LISTS` lists with a reference and a hypothesis, and of their references' words
            fewer than `SHARED` are in any of their hypotheses.
    """
    pairs = [
        (_tokens(one.reference), Counter(token for each in one.hypotheses for token in _tokens(each.text)))
        for one in lists
        if one.reference and one.reference.strip() and any(each.text.strip() for each in one.hypotheses)
    ]
    total = sum(len(reference) for reference, _ in pairs)
    shared = sum(token in hypotheses for reference, hypotheses in pairs for token in reference)
    if len(pairs) >= LEAST_LISTS and shared < SHARED * total:
        one = next(each for each in lists if each.reference and each.hypotheses[0].text.strip())
        raise InputError(
            place,
            f"{shared} of the {total} words of the references are in a hypothesis: "
            f'"{one.reference:.40}" stands beside "{one.hypotheses[0].text:.40}"',
            "give the references of these lists, in their order, language and script",
        )


def stray_tokens(lists: Sequence[NBest]) -> list[str]:
    """A line for each token that most first hypotheses have and no reference, or the other way round.

    Says in how many it is, and the first pass's word error rate with it and without.
    """
    pairs = [
        (_COUNTED.text(one.reference), _COUNTED.text(one.hypotheses[0].text))
        for one in lists
        if one.reference is not None
    ]
    if len(pairs) < LEAST_LISTS:
        return []
    sides = [Counter(token for pair in pairs for token in set(words(pair[side]))) for side in (0, 1)]
    found = []
    for here, there, name, other in (
        (sides[1], sides[0], "first hypotheses", "references"),
        (sides[0], sides[1], "references", "first hypotheses"),
    ):
        for token, count in here.most_common():
            if 2 * count <= len(pairs):
                break
            if not there[token]:
                without = [tuple(_without(text, token) for text in pair) for pair in pairs]
                found.append(
                    f'"{token}" is in {count} of {len(pairs)} {name} and in none of the {other}; WER of the first '
                    f"hypotheses {_error_rate(pairs):.2f}, without it {_error_rate(without):.2f}"
                )
    return found


def _tokens(text: str | None) -> list[str]:
    parts = words(_COUNTED.text(text or ""))
    return [token for part in parts for token in (part if words_of(part) > 1 else [part])]


def _without(text: str, token: str) -> str:
    return " ".join(word for word in words(text) if word != token)


def _error_rate(pairs: Sequence[tuple[str, ...]]) -> float:
    """Of pairs of a reference and a hypothesis, in percent."""
    counts = [count_errors(reference, [hypothesis]) for reference, hypothesis in pairs]
    return 100 * sum(errors[0] for errors, _ in counts) / max(1, sum(length for _, length in counts))
