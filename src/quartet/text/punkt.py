"""NLTK's Punkt for streams of any length: the same sentences in flat memory, and no decision made twice."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from nltk import redos
from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer, PunktToken

REMEMBERED = 1 << 15
"""Decisions that are kept: a word before a full stop and the one behind it, which come again and again."""

LONGEST = 64
"""Characters of a context that is worth keeping; a longer one is no two words."""

QUOTES = frozenset("\"'‘’“”«»`")
"""What may stand between an abbreviation and the next sentence."""


class Abbreviations(NamedTuple):
    """Words that a full stop belongs to in some places only, without that stop and in lower case.

    Attributes:
        before_number: where a number follows: "No. 5", but "The answer was no. Five more came."
        before_lower: where no capital and no quotation mark follows: "cats, dogs, etc. are", but "etc. Then stir."
    """

    before_number: frozenset[str] = frozenset()
    before_lower: frozenset[str] = frozenset()


NONE = Abbreviations()


class Punkt(PunktSentenceTokenizer):  # type: ignore[misc]
    """NLTK's class with given parameters, which can be sent to another process."""

    def __init__(self, parameters: Any, abbreviations: Abbreviations = NONE) -> None:
        """Take over what Punkt has learnt.

        Args:
            parameters: NLTK's `PunktParameters`, which stay as they are.
            abbreviations: what these cannot say; without any the spans are those of NLTK's class.
        """
        known = PunktParameters()
        known.abbrev_types = parameters.abbrev_types
        known.collocations = parameters.collocations
        known.sent_starters = parameters.sent_starters
        known.ortho_context = _Contexts(parameters.ortho_context)
        super().__init__(known, lang_vars=_Language(), token_cls=_Token)
        self._abbreviations = abbreviations
        self._remembered = lru_cache(REMEMBERED)(super().text_contains_sentbreak)

    def text_contains_sentbreak(self, text: str) -> bool:
        """Whether a sentence ends between the words of a context; the context alone decides it."""
        found: bool = (
            self._remembered(text) if len(text) <= LONGEST else super().text_contains_sentbreak(text)
        )
        return found

    def _second_pass_annotation(self, aug_tok1: Any, aug_tok2: Any) -> str | None:
        """NLTK's decision on a stop, unless the word before it is one of `abbreviations` and the next word fits."""
        reason: str | None = super()._second_pass_annotation(aug_tok1, aug_tok2)
        if aug_tok1.sentbreak and aug_tok1.period_final and aug_tok2 is not None:
            word = aug_tok1.type_no_period
            if (word in self._abbreviations.before_number and aug_tok2.is_number) or (
                word in self._abbreviations.before_lower
                and not (aug_tok2.first_upper or aug_tok2.tok[0] in QUOTES)
            ):
                aug_tok1.sentbreak, aug_tok1.abbr = False, True
        return reason

    def __reduce__(self) -> tuple[type[Punkt], tuple[Any, Abbreviations]]:
        return Punkt, (self._params, self._abbreviations)


class _Token(PunktToken):  # type: ignore[misc]
    """NLTK's token, whose patterns are tried only where their first characters can match."""

    __slots__ = ()

    def _get_type(self, tok: str) -> str:
        """A number's type begins with a digit, a sign or a mark."""
        kind: str = tok.lower() if tok[:1].isalpha() else super()._get_type(tok)
        return kind

    @property
    def is_ellipsis(self) -> bool:
        return self.tok.startswith("..") and bool(super().is_ellipsis)

    @property
    def is_initial(self) -> bool:
        """A letter and a full stop."""
        return len(self.tok) == 2 and bool(super().is_initial)


class _Contexts(dict[str, int]):
    """Where a word was seen; NLTK's own table grows by every word that is looked up and not known."""

    def __missing__(self, word: str) -> int:
        return 0


class _Language(PunktLanguageVars):  # type: ignore[misc]
    """Sentence ends as NLTK describes them, without its five seconds, after which a long paragraph would fail."""

    def period_context_re(self) -> Any:
        """Where a sentence may end: a pattern without backtracking, so it needs no time limit."""
        return redos.compile(super().period_context_re(), timeout=None)
