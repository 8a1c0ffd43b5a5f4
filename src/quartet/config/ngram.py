"""What defines an n-gram model: the tokens that it counts, how it is estimated, and from which text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from quartet.config.types import STRICT, Size, Text, part

Estimator = Literal["auto", "lmplz", "own"]
Units = Literal["words", "pieces"]
Punctuation = Literal["split", "strip", "keep"]

#: The orders that KenLM's Python packages are built to read.
LEAST_ORDER, MOST_ORDER = 2, 6


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TokenConfig:
    """How a text becomes the tokens of an n-gram model, in estimation and in scoring alike.

    Attributes:
        units: ``words``, or ``pieces``: those of a tokenizer, whose own rules then hold.
        lowercase: of words: lower-case and strip accents, as a tokenizer with ``lowercase`` does.
        punctuation: of words: ``split``: every mark is a word, as for the tokenizers; ``strip``: marks are left out,
            but for apostrophes inside words, as ``normalise.strip_punctuation`` does with N-best lists; ``keep``: words
            are what white space separates.
    """

    units: Units = "words"
    lowercase: bool | None = None
    punctuation: Punctuation | None = None

    def __post_init__(self) -> None:
        for name in ("lowercase", "punctuation"):
            given = getattr(self, name) is not None
            if self.units == "words" and not given:
                raise ValueError(f"{name} is missing: units words needs it")
            if self.units == "pieces" and given:
                raise ValueError(f"{name} is for units words: pieces are as their tokenizer makes them")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class NgramConfig:
    """How n-gram probabilities are estimated: interpolated modified Kneser-Ney (Chen and Goodman 1998).

    Attributes:
        order: words of the longest n-grams.
        pruning: n-grams that occur so often or less are left out, a threshold an order from 1 on; the last holds for
            the orders beyond. Nothing: all are kept. Words are never left out.
        discount_fallback: the discounts of counts 1, 2 and 3 or more for orders whose own cannot be computed, as of
            little or artificial text; null refuses such text.
        estimator: ``own`` is this package, ``lmplz`` KenLM's program; ``auto`` is lmplz where it is installed. Both
            give the same model, but for the last digits, which ``auto`` leaves to the machine.
    """

    order: Annotated[int, Field(ge=LEAST_ORDER, le=MOST_ORDER)] = 5
    pruning: tuple[Size, ...] = ()
    discount_fallback: tuple[float, float, float] | None = None
    estimator: Estimator = "own"

    def __post_init__(self) -> None:
        if len(self.pruning) > self.order:
            raise ValueError(f"pruning has {len(self.pruning)} thresholds for order {self.order}")
        if list(self.pruning) != sorted(self.pruning):
            raise ValueError(
                f"pruning {list(self.pruning)} must not fall: a part of an n-gram would be missing"
            )
        if self.pruning and self.pruning[0]:
            raise ValueError(f"pruning {list(self.pruning)} must begin with 0: words are never left out")
        for count, discount in enumerate(self.discount_fallback or (), start=1):
            if not 0 < discount <= count:
                raise ValueError(
                    f"discount_fallback {discount} for count {count} is not above 0 and at most {count}"
                )

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The pruning threshold of each order from 1 to `order`."""
        given = self.pruning or (0,)
        return (given + given[-1:] * self.order)[: self.order]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class NgramEntry(TokenConfig, NgramConfig):
    """An entry of ``ngrams:``, estimated from the training split of ``corpus``.

    Attributes:
        tokenizer: what the models of the same table read: its tokens measure how much of each test document is scored
            (``perplexity.tokens_per_document``), and with ``units: pieces`` they are what is counted.
    """

    corpus: Text
    tokenizer: Text

    def __post_init__(self) -> None:
        TokenConfig.__post_init__(self)
        NgramConfig.__post_init__(self)

    @property
    def tokens(self) -> TokenConfig:
        """How texts become tokens, as a model's folder keeps it."""
        return part(TokenConfig, self)

    @property
    def config(self) -> NgramConfig:
        """The estimation alone, as a model's folder keeps it."""
        return part(NgramConfig, self)
