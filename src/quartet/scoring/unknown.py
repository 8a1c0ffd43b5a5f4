"""Unknown tokens: how many there are, and what one costs as the word that it stands for.

A tokenizer writes [UNK] for each word that it cannot spell. A model gives one probability to all such words together,
and it is often high. One unknown word w of k characters has a share of it, as if each character were drawn by itself:

    log p(w | context) = log p([UNK] | context) - sum over the k characters c of log A(c)

A(c) is the number of characters in the vocabulary for those that are in it, and :data:`CHARACTERS` for all others.
Characters are counted as the tokenizer's clean-up leaves them, so in scripts without spaces each counts too.

A perplexity per word is of the same formula (:func:`unknown_words`), also an n-gram model's. The text's own <unk>,
which WikiText has for words that its makers did not count, is a word that needs no spelling there.

In scores, an n-gram model gives <unk> the share of one word already. There an unknown word of m letters of a script
without spaces counts as m words: log p(<unk> | context) + (m - 1) log p(<unk>).
"""

from __future__ import annotations

import math
import unicodedata
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, get_args

from quartet.arguments import check_choice, checked_texts
from quartet.config.choices import UnknownHandling
from quartet.errors import InputError
from quartet.statistics.intervals import Floats
from quartet.statistics.perplexity import UnknownWords
from quartet.text.tokenizer import UNKNOWN_WORD, TextTokenizer, characters_of

#: How many characters a text may have, about as many as Unicode 15 defines.
CHARACTERS = 150_000


class UnknownTokensWarning(UserWarning):
    """Texts with unknown tokens were scored by the probability of [UNK]."""


@dataclass(frozen=True)
class UnknownTokens:
    """Those of one text.

    Attributes:
        tokens: that the text has.
        places: (n,) which of them are unknown.
        spread: (n,) nats, at most 0, that the word costs beside its [UNK].
        words: (n,) what they stand for, cleaned up; empty where the tokenizer does not say.
    """

    tokens: int
    places: list[int] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class UnknownShare:
    """How much of some distinct texts a model does not know.

    Attributes:
        texts: with an unknown token.
        of_texts: all.
        tokens: that are unknown.
        of_tokens: all.
        spread: what they cost beside their [UNK]s, in nats; 0: nothing is to be spread.
    """

    texts: int
    of_texts: int
    tokens: int
    of_tokens: int
    spread: float = 0.0

    @classmethod
    def of(cls, found: Sequence[UnknownTokens]) -> UnknownShare:
        """The share of texts with these unknown tokens."""
        return cls(
            sum(bool(each.places) for each in found),
            len(found),
            sum(len(each.places) for each in found),
            sum(each.tokens for each in found),
            math.fsum(math.fsum(each.spread) for each in found),
        )

    def __str__(self) -> str:
        return (
            f"{self.tokens} of {self.of_tokens} tokens ({self.tokens / max(1, self.of_tokens):.2%}) are unknown, "
            f"in {self.texts} of {self.of_texts} distinct texts"
        )


@dataclass(frozen=True)
class UnknownTreatment:
    """The unknown tokens of some texts, and what is done with them.

    Attributes:
        handling: what is done.
        found: of each text; None: the model cannot tell (a scorer without ``unknown_tokens``).
        share: of the distinct texts, likewise.
    """

    handling: UnknownHandling
    found: list[UnknownTokens] | None = None
    share: UnknownShare | None = None

    def applied(self, logprobs: Sequence[Floats]) -> list[Floats]:
        """The texts' token log-probabilities, what is changed a copy."""
        if self.found is None or self.handling != "spread":
            return list(logprobs)
        return [_added(values, each) for values, each in zip(logprobs, self.found, strict=True)]

    def warn(self) -> None:
        """Warn where unknown tokens keep the probability of [UNK]."""
        if self.handling == "warn" and self.share is not None and self.share.tokens:
            text = f"{self.share}; each has the probability of [UNK]"
            warnings.warn(text, UnknownTokensWarning, stacklevel=3)


def unknown_in(model: object, texts: Sequence[str], handling: UnknownHandling) -> UnknownTreatment:
    """What a model does not know of texts.

    Raises:
        InputError: there is no such way to handle it, or there are unknown tokens and that is an error.
    """
    check_choice(handling, get_args(UnknownHandling), "unknown")
    find: Callable[[list[str]], list[UnknownTokens]] | None = getattr(model, "unknown_tokens", None)
    if find is None:
        return UnknownTreatment(handling)
    distinct = list(dict.fromkeys(texts))
    found = dict(zip(distinct, find(distinct), strict=True))
    share = UnknownShare.of(list(found.values()))
    if share.tokens and handling == "error":
        first = next(text for text, each in found.items() if each.places)
        raise InputError(
            f"text {first!r:.80}",
            f"{getattr(model, 'name', 'the model')}: {share}",
            "take a model of this script, or allow them (--unknown spread, unknown='spread')",
        )
    return UnknownTreatment(handling, [found[text] for text in texts], share)


def unknown_words(model: object, texts: Sequence[str]) -> UnknownWords:
    """The unknown words of texts, for figures a word: each costs its [UNK] and its spelling.

    Args:
        model: with ``unknown_tokens``, ``spelled`` where the spread of these is not by characters, and ``omits``
            where it may leave some of a text out.
    """
    find: Callable[[list[str]], list[UnknownTokens]] | None = getattr(model, "unknown_tokens", None)
    if find is None:
        return UnknownWords(None)
    omits: Callable[[Sequence[str]], bool] = getattr(model, "omits", lambda _: False)
    found = find(list(texts))
    spell: Callable[[UnknownTokens], float | None] = getattr(model, "spelled", spelled)
    nats = [0.0 if not each.places else spell(each) for each in found]
    known = [each for each in nats if each is not None]
    counts = [len(each.places) for each in found]
    return UnknownWords(counts, known if len(known) == len(nats) else None, omits(texts))


def spelled(found: UnknownTokens) -> float:
    """What the spread of a text's unknown words adds up to; the text's own <unk> needs none."""
    pairs = zip_longest(found.spread, found.words)
    return math.fsum(nats for nats, word in pairs if word != UNKNOWN_WORD)


class ScoresTexts(ABC):
    """What adds up a text's token log-probabilities: every scorer's sum, with one price of unknown tokens."""

    @abstractmethod
    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[Floats]:
        """Natural log-probabilities of each text's tokens, in order; of an unknown one that of [UNK]."""

    @abstractmethod
    def unknown_tokens(self, texts: Sequence[str]) -> list[UnknownTokens]:
        """Which tokens of each text the model does not know, and what each costs beside its [UNK]."""

    def score(
        self, texts: Sequence[str], masked: bool = True, unknown: UnknownHandling = "spread"
    ) -> list[float]:
        """The sum of each text's token log-probabilities, in nats; 0 for a text that has no tokens to score.

        Args:
            masked: as for :meth:`token_logprobs`.
            unknown: what is done with unknown tokens.

        Raises:
            InputError: as :meth:`token_logprobs`, or a text has an unknown token and that is an error.
        """
        texts = checked_texts(texts)
        found = unknown_in(self, texts, unknown)
        found.warn()
        return [float(values.sum()) for values in found.applied(self.token_logprobs(texts, masked))]


def _added(values: Floats, found: UnknownTokens) -> Floats:
    if not any(found.spread):
        return values
    changed = values.copy()
    changed[found.places] += found.spread
    return changed


def spread(word: str, known: frozenset[str]) -> float:
    """Minus the sum of log A(c) over a word's characters.

    Args:
        word: as the tokenizer's clean-up leaves it.
        known: the characters of the vocabulary.

    >>> round(spread("naïve", frozenset("abcdefghijklmnopqrstuvwxyz")), 2)  # -(4 log 26 + log 150,000)
    -24.95
    """
    characters = [each for each in unicodedata.normalize("NFC", word) if not each.isspace()]
    return 0.0 - math.fsum(math.log(len(known) if each in known else CHARACTERS) for each in characters)


def of_offsets(
    text: str,
    ids: Sequence[int],
    offsets: Iterable[Sequence[int]],
    unk_id: int,
    clean: Callable[[str], str],
    known: frozenset[str],
) -> UnknownTokens:
    """The unknown tokens of a text by where its tokens stand in it.

    Args:
        offsets: of each token, the first character and that behind the last.
        clean: the tokenizer's clean-up.
        known: the characters of the vocabulary.
    """
    there = [
        (place, clean(text[start:stop]))
        for place, (number, (start, stop)) in enumerate(zip(ids, offsets, strict=True))
        if number == unk_id
    ]
    words = [word for _, word in there]
    return UnknownTokens(
        len(ids), [place for place, _ in there], [spread(word, known) for word in words], words
    )


def of_tokenizer(tokenizer: TextTokenizer, texts: Sequence[str]) -> list[UnknownTokens]:
    """The unknown tokens of each text."""
    encoded = tokenizer.encode_batch(texts)
    found = [UnknownTokens(len(ids)) for ids in encoded]
    where = [number for number, ids in enumerate(encoded) if tokenizer.unk_id in ids]
    again = tokenizer.encode_with_offsets([texts[number] for number in where])
    for number, (ids, offsets) in zip(where, again, strict=True):
        found[number] = of_offsets(
            texts[number],
            ids.tolist(),
            offsets.tolist(),
            tokenizer.unk_id,
            tokenizer.cleaned,
            tokenizer.alphabet,
        )
    return found


def of_transformers(tokenizer: Any, encode: Callable[..., Any], texts: Sequence[str]) -> list[UnknownTokens]:
    """The same for a tokenizer of transformers.

    Args:
        encode: texts to {"input_ids", with ``offsets`` "offset_mapping"}.
    """
    unk_id = tokenizer.unk_token_id
    encoded = encode(list(texts))["input_ids"] if texts else []
    found = [UnknownTokens(len(ids)) for ids in encoded]
    where = [number for number, ids in enumerate(encoded) if unk_id is not None and unk_id in ids]
    if not where:
        return found
    vocabulary = set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)
    known = characters_of(vocabulary)
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    clean = normalizer.normalize_str if normalizer is not None else str
    if (
        not tokenizer.is_fast
    ):  # it does not say where its tokens stand: all that it cannot spell is in equal parts
        for number in where:
            places = [place for place, each in enumerate(encoded[number]) if each == unk_id]
            strange = "".join(each for each in clean(texts[number]) if each not in known) or "?"
            found[number] = UnknownTokens(
                len(encoded[number]), places, [spread(strange, known) / len(places)] * len(places)
            )
        return found
    again = encode([texts[number] for number in where], offsets=True)
    for number, ids, offsets in zip(where, again["input_ids"], again["offset_mapping"], strict=True):
        found[number] = of_offsets(texts[number], ids, offsets, unk_id, clean, known)
    return found
