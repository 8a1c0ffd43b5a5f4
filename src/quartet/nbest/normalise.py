"""One setting of case and punctuation for hypotheses and references alike, before anything is counted."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from quartet.nbest.types import NBest

# Whatever is neither letter, digit nor space. The underscore is a letter to `re` but punctuation to Unicode.
_CANDIDATE = re.compile(r"[^\w\s]|_")


@dataclass(frozen=True)
class Normalisation:
    r"""How texts are made comparable. Runs of white space always become one space.

    Attributes:
        lowercase: lower the case.
        strip_punctuation: replace every punctuation mark (Unicode category P) by a space, so that
            "well-known" is two words on both sides; an apostrophe between letters stays ("it's", also from a
            typographic one).

    >>> Normalisation(lowercase=True, strip_punctuation=True).text("It\u2019s  a well-known 'fact'.")
    "it's a well known fact"
    """

    lowercase: bool = False
    strip_punctuation: bool = False

    def text(self, text: str) -> str:
        """The normalised text; it may become empty."""
        if self.strip_punctuation:
            text = _CANDIDATE.sub(_replace, text)
        if self.lowercase:
            text = text.lower()
        return " ".join(text.split())

    def lists(self, lists: Iterable[NBest]) -> list[NBest]:
        """The same lists with every text normalised; hypotheses that become equal all stay."""
        return [
            NBest(
                one.utterance,
                tuple(dataclasses.replace(each, text=self.text(each.text)) for each in one.hypotheses),
                None if one.reference is None else self.text(one.reference),
            )
            for one in lists
        ]


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    if found in "'\u2019" and _inside_word(match):
        return "'"
    return " " if unicodedata.category(found).startswith("P") else found


def _inside_word(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    return start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum()
